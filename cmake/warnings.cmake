# The warnings that every target of the project is built with, as errors.
function(strid_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # GCC 12 sees overlapping copies in an optimised `"text" + string` (GCC bug 105651).
        target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
endfunction()
