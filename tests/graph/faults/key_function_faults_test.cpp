// SPDX-License-Identifier: Apache-2.0
//
// Functions of keys and of splits that throw (callback_cases.hpp): they are called by the operator
// before an edge, and by the one behind it.
#include <array>
#include <cstddef>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>

#include "callback_cases.hpp"

namespace strid {
namespace {

using test::before;
using test::broken;
using test::callback_count;
using test::CallbackCase;
using test::ignore_tracked;
using test::Numbers;
using test::Probe;
using test::Tracked;
using test::tracked;
using test::wrap_number;

const auto same = [](const Tracked& t) { return t; };

const CallbackCase of_keys[] = {
    {"key function",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by([p](const Tracked& t) { return p(), t.value % 7; })
             .reduce([](const Tracked&, const Tracked& t) { return t; }, broken)
             .sink(ignore_tracked);
     },
     true,
     {"key_by behind before", "broken"}},
    {"split function",
     [](Graph& g, const Probe& p) {
         auto branches = tracked(g).map(same, broken).split(2, [p](const Tracked& t) {
             p();
             return t.value % 2;
         });
         branches.select(0).sink(ignore_tracked);
         branches.select(1).sink(ignore_tracked);
     },
     true,
     {"split behind broken"}},
    {"split function behind a source",
     [](Graph& g, const Probe& p) {
         auto branches =
             g.source(Numbers{callback_count}, broken).split(2, [p](const std::uint64_t& n) {
                 p();
                 return std::array{n % 2, std::uint64_t{1}};
             });
         branches.select(0).map(wrap_number).sink(ignore_tracked);
         branches.select(1).map(wrap_number).sink(ignore_tracked);
     },
     true,
     {"split behind broken"}},
    {"key function behind a source",
     [](Graph& g, const Probe& p) {
         g.source(Numbers{callback_count}, {.name = "numbers"})
             .key_by([p](const std::uint64_t& n) { return p(), n % 7; })
             .map(wrap_number, broken)
             .sink(ignore_tracked);
     },
     true,
     {"key_by behind numbers", "broken"}},
    {"key function with options",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by([p](const Tracked& t) { return p(), t.value % 7; }, broken)
             .sink(ignore_tracked);
     },
     true,
     {"broken", "key_by behind broken"}},
    {"key function of a group",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by([p](const Tracked& t) { return p(), t.value % 7; })
             .window(window::CountWindows::tumbling(8), window::count(), share::farmed,
                     {.name = "in"})
             .sink([](const auto&) {});
     },
     true,
     {"key function behind before", "in"}}};

class KeyFunctionFaults : public testing::TestWithParam<CallbackCase> {};

TEST_P(KeyFunctionFaults, EndTheRunAndNameTheOperator) {
    test::expect_named_in_all_ways(GetParam());
}
INSTANTIATE_TEST_SUITE_P(OfKeys, KeyFunctionFaults, testing::ValuesIn(of_keys),
                         [](const auto& one) { return test::name_of_case(one.param); });

// Where the states of keys are far they are brought near by the hashes of the records: the key
// function is called at the edge, and where the record is handled, and never else.
TEST(FarKeyFaults, AreNamedWhileStatesAreBroughtNear) {
    struct Large {
        std::array<char, std::size_t{128} << 10> filler{};
    };
    const auto wire = [](Graph& graph, const Probe& probe) {
        graph.source(Numbers{400}, {.name = "numbers"})
            .key_by([probe](const std::uint64_t& n) { return probe(), n % 20; })
            .accumulate(Large{}, [](Large& large, const std::uint64_t&) { ++large.filler[0]; },
                        Emit::at_end, {.name = "far"})
            .sink([](const auto&) {});
    };
    const CallbackCase one{"far states", wire, true, {"key_by behind numbers", "far"}};
    Probe counting;
    Graph whole{"whole"};
    wire(whole, counting);
    run(whole, {.workers = 1, .block_bytes = 1024});
    const std::uint64_t calls = *counting.calls;
    ASSERT_EQ(calls, 2 * 400U);
    for (std::uint64_t at = 1; at <= calls; at += 37) {
        SCOPED_TRACE("call " + std::to_string(at));
        test::expect_named(one, Probe{.at = at}, {.workers = 1, .block_bytes = 1024});
    }
}

}  // namespace
}  // namespace strid
