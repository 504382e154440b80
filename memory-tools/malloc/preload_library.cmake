# A library to preload in the place of malloc, libNAME.so: exports what entry_points.hpp defines and
# nothing else, and needs the C library alone.
#
# Its variables of a thread lie in the space that the loader has set aside for libraries of the start
# (initial-exec), because the other models call malloc. No compiler may take the bodies of malloc
# and calloc for calls of themselves. libstdc++ is linked only as needed, which is not at all: see
# entry_points.hpp.
function(strid_preload_library name)
    add_library(${name} SHARED ${ARGN})
    set_target_properties(${name} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/malloc)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_SOURCE_DIR}/memory-tools/malloc)
    target_compile_options(${name} PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden
                                           -ftls-model=initial-exec -fno-builtin-malloc
                                           -fno-builtin-calloc -fno-builtin-realloc
                                           -fno-builtin-free -fno-plt)
    target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O2>)
    target_compile_definitions(${name} PRIVATE STRID_ASSERT_LEVEL=0)
    target_link_options(${name} PRIVATE -static-libgcc -Wl,--as-needed -Wl,-z,defs -Wl,-z,now)
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
    strid_warnings(${name})
    if(STRID_INSTALL)
        install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endfunction()
