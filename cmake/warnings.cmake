# The warnings that every target of the project is built with, as errors.
function(strid_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Werror)
endfunction()
