# The warnings that every target of the project is built with: errors, unless another project builds
# it with a compiler of its own.
function(strid_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wsuggest-override)
    if(STRID_WARNINGS_ARE_ERRORS)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # GCC 12 sees overlapping or endless copies in an optimised `"text" + string` (GCC bugs
        # 105651 and 105329).
        target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow)
    endif()
endfunction()
