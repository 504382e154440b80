// SPDX-License-Identifier: Apache-2.0
//
// Functions that operators call with each record, and that throw (callback_cases.hpp).
#include <utility>

#include <gtest/gtest.h>

#include <strid/operator/time_order.hpp>

#include "callback_cases.hpp"

namespace strid {
namespace {

using test::broken;
using test::CallbackCase;
using test::ignore_tracked;
using test::key_of_tracked;
using test::Probe;
using test::time_of_tracked;
using test::Tracked;
using test::tracked;

const CallbackCase by_record[] = {
    {"filter",
     [](Graph& g, const Probe& p) {
         tracked(g).filter([p](const Tracked&) { return p(), true; }, broken).sink(ignore_tracked);
     }},
    {"keyed filter",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by(key_of_tracked)
             .filter([p](const Tracked&) { return p(), true; }, broken)
             .sink(ignore_tracked);
     }},
    {"flat_map, having emitted",
     [](Graph& g, const Probe& p) {
         const auto twice = [p](const Tracked& t, auto& emit) {
             emit(t);
             p();
             emit(t);
         };
         tracked(g)
             .rebalance()
             .flat_map<Tracked>(twice, broken)
             .key_by(key_of_tracked)
             .sink(ignore_tracked);
     }},
    {"keyed flat_map",
     [](Graph& g, const Probe& p) {
         const auto twice = [p](const Tracked& t, Emitter<Tracked>& emit) {
             emit(t);
             p();
             emit(t);
         };
         tracked(g).key_by(key_of_tracked).flat_map<Tracked>(twice, broken).sink(ignore_tracked);
     }},
    {"reduce",
     [](Graph& g, const Probe& p) {
         const auto last = [p](const Tracked&, const Tracked& t) { return p(), t; };
         tracked(g).key_by(key_of_tracked).reduce(last, broken).sink(ignore_tracked);
     }},
    {"accumulate",
     [](Graph& g, const Probe& p) {
         const auto sum = [p](Tracked& so_far, const Tracked& t) {
             so_far.value += t.value;
             p();
         };
         tracked(g)
             .key_by(key_of_tracked)
             .accumulate(Tracked{}, sum, Emit::every_update, broken)
             .sink([](const auto&) {});
     }},
    {"time function",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .event_time([p](const Tracked& t) { return p(), time_of_tracked(t); },
                         MonotonousTime{}, {.name = "broken"})
             .sink(ignore_tracked);
     }},
    {"time function of an order",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .event_time(time_of_tracked, BoundedDisorder{Duration::max()})
             .timed_by([p](const Tracked& t) { return p(), time_of_tracked(t); })
             .apply(in_order_of_time(), broken)
             .sink(ignore_tracked);
     }},
    {"keyed sink", [](Graph& g, const Probe& p) {
         tracked(g).key_by(key_of_tracked).sink([p](const Tracked&) { p(); }, broken);
     }}};

class CallbackFaults : public testing::TestWithParam<CallbackCase> {};

TEST_P(CallbackFaults, EndTheRunAndNameTheOperator) {
    test::expect_named_in_all_ways(GetParam());
}
INSTANTIATE_TEST_SUITE_P(ByRecord, CallbackFaults, testing::ValuesIn(by_record),
                         [](const auto& one) { return test::name_of_case(one.param); });

}  // namespace
}  // namespace strid
