# Intel's Skylake servers keep no decoded copy of a jump that touches a boundary of 32 bytes (their
# erratum SKX102): one and the same loop runs a fifth slower or faster by where the linker happens
# to put it, in the engine and in what it is measured against alike. The assembler pads such jumps
# away.
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    foreach(flag -Wa,-mbranches-within-32B-boundaries -mbranches-within-32B-boundaries)
        string(MAKE_C_IDENTIFIER "strid_has${flag}" has)
        check_cxx_compiler_flag(${flag} ${has})
        if(${has})
            add_compile_options($<$<CONFIG:Release>:${flag}>)
            break()
        endif()
    endforeach()
endif()
