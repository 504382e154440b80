# A unity build: the sources of one folder are compiled as one, ten at a time, because most of the
# time that a small source takes is that of the headers it shares with its neighbours. With
# STRID_TOGETHER off (the presets dev and clang) each is compiled alone.
#
# strid_compile_together(TARGET...): all sources but those of tests.
function(strid_compile_together)
    if(NOT STRID_TOGETHER)
        return()
    endif()
    foreach(target ${ARGV})
        get_target_property(sources ${target} SOURCES)
        get_target_property(source_dir ${target} SOURCE_DIR)
        list(FILTER sources INCLUDE REGEX "\\.cpp$")
        list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
        foreach(source ${sources})
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${source_dir})
            cmake_path(GET source PARENT_PATH folder)
            cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
            string(MAKE_C_IDENTIFIER "${folder}" group)
            math(EXPR count_${group} "0${count_${group}} + 1")
            math(EXPR part "(${count_${group}} - 1) / 10")
            set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                        PROPERTIES UNITY_GROUP ${group}_${part})
        endforeach()
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    endforeach()
endfunction()

# strid_compile_together_below(FOLDER...): of every target in the folders, but for programs that are
# measured.
function(strid_compile_together_below)
    foreach(folder ${ARGV})
        if(folder MATCHES "/bench$")
            continue()
        endif()
        get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
        foreach(target ${targets})
            get_target_property(type ${target} TYPE)
            if(type MATCHES "EXECUTABLE|LIBRARY")
                strid_compile_together(${target})
            endif()
        endforeach()
        get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
        strid_compile_together_below(${folders})
    endforeach()
endfunction()
