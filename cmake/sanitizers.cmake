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
        list(APPEND strid_sanitize_compile -fno-sanitize=null,object-size,vptr,pointer-overflow
                                           $<TARGET_PROPERTY:STRID_UNCHECKED>)
    endif()
endif()

# Fewer checks, in tests that take long to compile, of what has tests of its own with all checks. The
# options of a target stand before those of the library, of which the last one counts; so they are a
# property, which the library's name.

# Tests of whole graphs look for memory that is used after its end, and no more: two fifths less.
function(strid_only_addresses_are_checked target)
    set_target_properties(${target} PROPERTIES
        STRID_UNCHECKED "-fno-sanitize=undefined;-fno-sanitize-address-use-after-scope")
endfunction()

# A check of every access's alignment is a quarter of the time that a test of operators takes. These
# tests place nothing in memory themselves: what does (memory, message, operator, window, and the
# library's own units) has tests of its own, with the check.
function(strid_alignment_is_checked_elsewhere target)
    set_target_properties(${target} PROPERTIES STRID_UNCHECKED -fno-sanitize=alignment)
endfunction()
