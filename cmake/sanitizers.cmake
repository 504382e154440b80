# The sanitizers of STRID_SANITIZE, in every target that uses the library. The address sanitizer
# stops at a null or freed pointer, and at one that arithmetic has moved out of its block, when it is
# used; and the library casts nothing by its dynamic type. The four checks of
# UndefinedBehaviorSanitizer for these are therefore off: a unit takes a quarter less.
set(strid_sanitize_compile)
set(strid_sanitize_link)
if(STRID_SANITIZE)
    set(strid_sanitize_compile -fsanitize=${STRID_SANITIZE} -fno-sanitize-recover=all
                               -fno-omit-frame-pointer)
    set(strid_sanitize_link -fsanitize=${STRID_SANITIZE})
    if(STRID_SANITIZE MATCHES "undefined" AND STRID_SANITIZE MATCHES "address")
        list(APPEND strid_sanitize_compile -fno-sanitize=null,object-size,vptr,pointer-overflow)
    endif()
endif()

# A check of every access's alignment is a third of the time that a test of whole graphs or operators
# takes to compile. These tests place nothing in memory themselves: what does (memory, message,
# operator, window, and the library's own units) has tests of its own, with the check.
function(strid_alignment_is_checked_elsewhere target)
    if(STRID_SANITIZE MATCHES "undefined")
        target_compile_options(${target} PRIVATE -fno-sanitize=alignment)
    endif()
endfunction()
