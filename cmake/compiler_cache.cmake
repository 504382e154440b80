# ccache where it is installed, unless the user has chosen a launcher. A precompiled header is
# cacheable only when ccache is told that the macros behind it are known (ccache's manual,
# "Precompiled headers"). Paths are taken relative to the source folder, so that another clone of
# the project finds what the first has compiled. Comments count: a precompiled header names its
# files by their content, and with one from before a comment changed, a file that is included once
# more is read once more (#pragma once).
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(PROJECT_IS_TOP_LEVEL AND CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 CCACHE_COMMENTS=1 ${CCACHE})
endif()
