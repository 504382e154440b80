# strid::parquet, over Apache Arrow. Debian has no package of it; the wheel `pyarrow` of Python has
# its headers and libraries, in STRID_PYARROW: where scripts/install-dependencies --ci has put it,
# or where Python finds it. The command line does not link it: Arrow takes 10 ms to load, so a module
# beside the program does, which is loaded for the first such address (tools/common/parquet.cpp).
find_package(Python3 COMPONENTS Interpreter QUIET)
function(strid_find_pyarrow)
    set(place ${PROJECT_SOURCE_DIR}/build/peers/arrow/pyarrow)
    if(NOT EXISTS ${place}/include/parquet/arrow/reader.h AND Python3_EXECUTABLE)
        execute_process(COMMAND ${Python3_EXECUTABLE} -c "import importlib.util as u
found = u.find_spec('pyarrow')
print(found.submodule_search_locations[0] if found else '')"
                        OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(EXISTS "${place}/include/parquet/arrow/reader.h")
        set(STRID_PYARROW ${place} CACHE PATH "The folder of the Python package pyarrow" FORCE)
    endif()
endfunction()
set(STRID_PARQUET AUTO CACHE STRING "Build strid::parquet, files of Parquet: ON, OFF, AUTO")
set_property(CACHE STRID_PARQUET PROPERTY STRINGS AUTO ON OFF)
# With a sanitizer only where it is asked for: the wheel is built without.
if(NOT STRID_PARQUET OR (STRID_PARQUET STREQUAL "AUTO" AND STRID_SANITIZE))
    return()
endif()
if(NOT EXISTS "${STRID_PYARROW}/include/parquet/arrow/reader.h")
    strid_find_pyarrow()
endif()
file(GLOB strid_arrow_libraries ${STRID_PYARROW}/libarrow.so.* ${STRID_PYARROW}/libparquet.so.*)
list(LENGTH strid_arrow_libraries strid_arrow_count)
if(NOT STRID_PYARROW OR NOT strid_arrow_count EQUAL 2)
    if(STRID_PARQUET STREQUAL "AUTO")
        return()
    endif()
    message(FATAL_ERROR "STRID_PARQUET=ON needs the Python package pyarrow: pip install pyarrow, \
and -DSTRID_PYARROW=FOLDER where Python does not find it")
endif()
add_library(strid_arrow INTERFACE)
target_include_directories(strid_arrow SYSTEM INTERFACE ${STRID_PYARROW}/include)
target_link_libraries(strid_arrow INTERFACE ${strid_arrow_libraries})
# An installed copy says which libraries, and not where they are.
list(TRANSFORM strid_arrow_libraries REPLACE "^.*/" "-l:" OUTPUT_VARIABLE strid_arrow_flags)
list(JOIN strid_arrow_flags " " strid_pc_libs_of_parquet)
list(JOIN strid_arrow_flags "$<SEMICOLON>" strid_arrow_flags)
strid_transport_library(parquet strid_arrow "${strid_arrow_flags}")
