# GCC collects its garbage as soon as it has some hundred MiB. A unit with whole graphs in it has
# more than that all the time, and to look through it again and again is a third of its compilation.
# From 400 MB on it collects: a quarter less time. Where each compiler may have 2 GB it need not
# collect at all, which is another quarter (continuous integration sets the environment's variable).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(heap_mb 400)
    if(DEFINED ENV{STRID_COMPILER_HEAP_MB})
        set(heap_mb $ENV{STRID_COMPILER_HEAP_MB})
    endif()
    set(STRID_COMPILER_HEAP_MB ${heap_mb} CACHE STRING
        "GCC collects its garbage when it has as many megabytes")
    mark_as_advanced(STRID_COMPILER_HEAP_MB)
    add_compile_options(--param=ggc-min-expand=30
                        --param=ggc-min-heapsize=${STRID_COMPILER_HEAP_MB}000)
endif()
