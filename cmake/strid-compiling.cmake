# Functions that shorten the compilation of a program that uses the library (docs/compile-times.md).
# Found by find_package(strid) and, in the library's own build, by its CMakeLists.txt.

# strid_precompile(TARGET...): <strid/strid.hpp> becomes a precompiled header of each target, which
# is included before everything else: the compilers take a precompiled header only as the first
# include, and GCC ignores it silently elsewhere. Targets with the same libraries and flags share
# one. Takes effect at the end of the directory, so that the order of calls does not matter.
function(strid_precompile)
    foreach(target ${ARGV})
        if(NOT TARGET ${target})
            message(FATAL_ERROR "strid_precompile: there is no target '${target}'")
        endif()
        cmake_language(EVAL CODE "cmake_language(DEFER CALL _strid_precompile [[${target}]])")
    endforeach()
endfunction()

# strid_whole_segments(TARGET...): for development builds. Of each segment of the targets' graphs
# one kernel is compiled, that of the whole segment. A run that needs another is an error.
function(strid_whole_segments)
    foreach(target ${ARGV})
        target_compile_definitions(${target} PRIVATE STRID_WHOLE_SEGMENTS)
    endforeach()
endfunction()

function(_strid_precompile target)
    get_target_property(type ${target} TYPE)
    get_target_property(imported ${target} IMPORTED)
    if(imported OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
        message(FATAL_ERROR "strid_precompile: target '${target}' compiles no sources")
    endif()
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
        message(WARNING "strid_precompile: '${target}' has no precompiled header, because "
                        "${CMAKE_CXX_COMPILER_ID} is neither GCC nor Clang")
        return()
    endif()
    _strid_links(${target} links)
    if(NOT links)
        message(FATAL_ERROR "strid_precompile: target '${target}' does not link strid::strid")
    endif()
    set(header "$<$<COMPILE_LANGUAGE:CXX>:<strid/strid.hpp$<ANGLE-R>>")
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    get_target_property(own ${target} PRECOMPILE_HEADERS)
    if(reused)
        message(FATAL_ERROR "strid_precompile: target '${target}' has the precompiled headers of "
                            "'${reused}', and cannot have others as well")
    elseif(own)
        target_precompile_headers(${target} PRIVATE ${header})
        return()
    endif()

    # A precompiled header is valid for the flags that it was made with.
    set(flags "${CMAKE_CXX_FLAGS};${CMAKE_BUILD_TYPE}")
    foreach(property LINK_LIBRARIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES
                     COMPILE_FLAGS INCLUDE_DIRECTORIES CXX_STANDARD CXX_STANDARD_REQUIRED
                     CXX_EXTENSIONS CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN
                     POSITION_INDEPENDENT_CODE INTERPROCEDURAL_OPTIMIZATION)
        get_target_property(value ${target} ${property})
        list(APPEND flags "${property}=${value}")
    endforeach()
    if(type STREQUAL "EXECUTABLE")
        list(APPEND flags "executable")
    elseif(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
        list(APPEND flags "position-independent")
    endif()
    string(SHA1 key "${flags}")
    get_property(owner GLOBAL PROPERTY _strid_precompiled_${key})
    if(owner)
        target_precompile_headers(${target} REUSE_FROM ${owner})
    else()
        target_precompile_headers(${target} PRIVATE ${header})
        set_property(GLOBAL PROPERTY _strid_precompiled_${key} ${target})
    endif()
endfunction()

# Whether the target links the library, maybe through others.
function(_strid_links target result)
    set(found FALSE)
    set(seen ${target})
    set(left ${target})
    while(left AND NOT found)
        list(POP_FRONT left one)
        foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
            get_target_property(libraries ${one} ${property})
            foreach(library ${libraries})
                if(library MATCHES "^strid$|strid::strid")
                    set(found TRUE)
                elseif(TARGET "${library}" AND NOT library IN_LIST seen)
                    list(APPEND seen ${library})
                    list(APPEND left ${library})
                endif()
            endforeach()
        endforeach()
    endwhile()
    set(${result} ${found} PARENT_SCOPE)
endfunction()
