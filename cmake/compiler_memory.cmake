# GCC collects its garbage as soon as it has some hundred MiB. A unit with whole graphs in it has
# more than that all the time, and to look through it again and again is a sixth of its compilation;
# collected later, it takes a third more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=ggc-min-expand=1000 --param=ggc-min-heapsize=1500000)
endif()
