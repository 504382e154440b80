# The common part of all folders of tests. tests/CMakeLists.txt makes a program of each room of the
# engine; here is what the tests beside the engine share.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
include(GoogleTest)
include(${CMAKE_CURRENT_LIST_DIR}/fuzzing.cmake)
set(strid_test_libraries strid::strid GTest::gtest GTest::gmock GTest::gtest_main rapidcheck)

# A program of GoogleTest outside tests/, with the same headers and the same optimisation.
#
#   strid_test_program(NAME SOURCES... LIBRARIES...)
function(strid_test_program name)
    cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES")
    add_executable(${name} ${program_SOURCES})
    target_link_libraries(${name} PRIVATE ${strid_test_libraries} ${program_LIBRARIES})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
    strid_warnings(${name})
    if(STRID_PRECOMPILE)
        target_precompile_headers(${name} REUSE_FROM strid_test_headers)
    endif()
endfunction()

# A test in Python beside the engine: what it shares with others lies in tests/support. VARIABLES
# are those of its environment, as NAME=VALUE; ARGUMENTS usually name classes of unittest. It is one
# of those that take seconds, which start first (COST).
#
#   strid_python_test(NAME SCRIPT file [ARGUMENTS...] [VARIABLES...] [LABELS...])
function(strid_python_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "SCRIPT" "ARGUMENTS;VARIABLES;LABELS")
    set(packages ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tests/command_line
        ${PROJECT_SOURCE_DIR}/build/peers/python)
    list(JOIN packages ":" packages)
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${test_SCRIPT}
             ${test_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 COST 50 LABELS "${test_LABELS}" ENVIRONMENT
        "${test_VARIABLES};STRID_SOURCE=${PROJECT_SOURCE_DIR};PYTHONPATH=${packages}")
endfunction()
