# The sanitizers of STRID_SANITIZE, in every target that uses the library. The address sanitizer
# stops at a null or freed pointer, and the library casts nothing by its dynamic type. The three
# checks of UndefinedBehaviorSanitizer for these are therefore off: the build takes a tenth less.
set(strid_sanitize_compile)
set(strid_sanitize_link)
if(STRID_SANITIZE)
    set(strid_sanitize_compile -fsanitize=${STRID_SANITIZE} -fno-sanitize-recover=all
                               -fno-omit-frame-pointer)
    set(strid_sanitize_link -fsanitize=${STRID_SANITIZE})
    if(STRID_SANITIZE MATCHES "undefined" AND STRID_SANITIZE MATCHES "address")
        list(APPEND strid_sanitize_compile -fno-sanitize=null,object-size,vptr)
    endif()
endif()

# Whole graphs are most of what is compiled, and a check of every access's alignment a fifth of
# their time. They place nothing in memory themselves: what does (memory, message, operator,
# window, and the library's own units) has tests of its own, with the check.
function(strid_alignment_is_checked_elsewhere target)
    if(STRID_SANITIZE MATCHES "undefined")
        target_compile_options(${target} PRIVATE -fno-sanitize=alignment)
    endif()
endfunction()
