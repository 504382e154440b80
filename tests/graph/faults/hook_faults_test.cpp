// SPDX-License-Identifier: Apache-2.0
//
// Hooks that throw before, between and behind the records (callback_cases.hpp).
#include <utility>

#include <gtest/gtest.h>

#include "callback_cases.hpp"

namespace strid {
namespace {

using test::before;
using test::broken;
using test::callback_count;
using test::CallbackCase;
using test::ignore_tracked;
using test::key_of_tracked;
using test::Numbers;
using test::Probe;
using test::Tracked;
using test::tracked;
using test::wrap_number;

/// A function with one of the optional members, or none, that is the probe.
enum class Member { none, open, flush, close };
template <class F, Member member>
struct With : F {
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .stateless = true};
    Probe probe;
    With(F f, Probe p) : F(std::move(f)), probe(std::move(p)) {}

    void on(const Opened&) {
        if (member == Member::open) probe();
    }
    void on(Flush) {
        if (member == Member::flush) probe();
    }
    void on(Closed) {
        if (member == Member::close) probe();
    }
};
template <Member member, class F>
With<F, member> with(F f, const Probe& probe) {
    return {std::move(f), probe};
}

struct OpeningNumbers : Numbers {
    static constexpr SourceTraits traits{.hears = events<Opened>};
    Probe probe;
    void on(const Opened&) const { probe(); }
};

const auto same = [](const Tracked& t) { return t; };

template <class Wire>
CallbackCase once(const char* name, Wire wire) {
    return {name, wire, false};
}

const CallbackCase now_and_then[] = {
    once("open of a source",
         [](Graph& g, const Probe& p) {
             OpeningNumbers numbers;
             numbers.count = callback_count;
             numbers.probe = p;
             g.source(numbers, broken).map(wrap_number).sink(ignore_tracked);
         }),
    once("open of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().map(with<Member::open>(same, p), broken).sink(ignore_tracked);
         }),
    once("open of a keyed operator",
         [](Graph& g, const Probe& p) {
             tracked(g)
                 .key_by(key_of_tracked)
                 .map(with<Member::open>(same, p), broken)
                 .sink(ignore_tracked);
         }),
    once("open of a sink",
         [](Graph& g, const Probe& p) {
             tracked(g).key_by(key_of_tracked).sink(with<Member::open>(ignore_tracked, p), broken);
         }),
    once("flush of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g)
                 .filter(with<Member::flush>([](const Tracked&) { return true; }, p), broken)
                 .sink(ignore_tracked);
         }),
    once("flush of a sink",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().sink(with<Member::flush>(ignore_tracked, p), broken);
         }),
    once("close of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().map(with<Member::close>(same, p), broken).sink(ignore_tracked);
         }),
    once("close of a sink", [](Graph& g, const Probe& p) {
        tracked(g).rebalance().sink(with<Member::close>(ignore_tracked, p), broken);
    })};

class HookFaults : public testing::TestWithParam<CallbackCase> {};

TEST_P(HookFaults, EndTheRunAndNameTheOperator) {
    test::expect_named_in_all_ways(GetParam());
}
INSTANTIATE_TEST_SUITE_P(NowAndThen, HookFaults, testing::ValuesIn(now_and_then),
                         [](const auto& one) { return test::name_of_case(one.param); });

}  // namespace
}  // namespace strid
