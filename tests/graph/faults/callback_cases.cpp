// SPDX-License-Identifier: Apache-2.0
#include "callback_cases.hpp"

#include <cctype>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strid::test {

void expect_named(const CallbackCase& one, const Probe& probe, const RunOptions& options) {
    Graph graph{"breaking"};
    one.wire(graph, probe);
    try {
        run(graph, options);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const OperatorError& error) {
        EXPECT_THAT(one.operators, testing::Contains(error.operator_name()));
        EXPECT_THAT(error.what(), testing::HasSubstr("the function broke"));
        EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
    }
}

void expect_named_in_all_ways(const CallbackCase& one) {
    Probe counting;
    {
        Graph whole{"whole"};
        one.wire(whole, counting);
        run(whole, {.workers = 2, .parallelism = 1});  // of more replicas each may call
    }
    const std::uint64_t calls = *counting.calls;
    ASSERT_GE(calls, one.by_record ? callback_count - 7 : 1);
    std::vector<std::uint64_t> moments{1};
    if (one.by_record) moments = {1, calls / 2, calls};
    for (const auto& way : all_ways()) {
        for (const std::uint64_t at : moments) {
            SCOPED_TRACE(way.name + ", call " + std::to_string(at));
            expect_named(one, Probe{.at = at}, way.options);
            ASSERT_EQ(Tracked::alive.load(), 0) << "records were lost or destroyed twice";
        }
    }
}

std::string name_of_case(const CallbackCase& one) {
    std::string name = one.name;
    std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
    return name;
}

}  // namespace strid::test
