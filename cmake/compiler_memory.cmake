# GCC collects its garbage as soon as it has some hundred MiB. A unit with whole graphs in it has
# more than that all the time, and to look through it again and again is a sixth of its compilation.
# From 400 MB on it collects: later it would take a third more memory, at a tenth less time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=ggc-min-expand=30 --param=ggc-min-heapsize=400000)
endif()
