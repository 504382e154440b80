# Parsers under libFuzzer: `cmake --preset fuzz`, then scripts/fuzz. Every other build replays the
# corpora, which hold what the fuzzer found worth keeping.
#
# SUBJECT_fuzz.cpp has LLVMFuzzerTestOneInput(), corpus/SUBJECT.txt the inputs.
#
#   strid_fuzz_target(SUBJECT [SOURCES...] [LIBRARIES...])
function(strid_fuzz_target subject)
    cmake_parse_arguments(PARSE_ARGV 1 target "" "" "SOURCES;LIBRARIES")
    set(name ${subject}_fuzz)
    add_executable(${name} ${name}.cpp ${target_SOURCES})
    target_link_libraries(${name} PRIVATE strid::strid ${target_LIBRARIES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    strid_warnings(${name})
    if(STRID_FUZZ)
        set_target_properties(${name} PROPERTIES
                              RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/replay.cpp)
        add_test(NAME fuzz.${subject}
                 COMMAND ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${subject}.txt)
        set_tests_properties(fuzz.${subject} PROPERTIES LABELS fuzz TIMEOUT 120)
    endif()
endfunction()

# The same of a paper.
function(strid_paper_fuzz_target subject)
    strid_fuzz_target(${subject} ${ARGN})
    if(NOT STRID_FUZZ)
        set_property(TEST fuzz.${subject} APPEND PROPERTY LABELS papers)
    endif()
endfunction()
