// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of the operators by record that throw: whichever it is and whenever, the run ends with
// an OperatorError that names the operator and carries what was thrown, and no record is lost or
// destroyed twice.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>

#include "../test_sources.hpp"
#include "probe.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Numbers;
using test::Probe;
using test::Tracked;

const std::uint64_t count = test::perturbed ? 100 : 600;

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

const auto ignore = [](const Tracked&) {};
const auto same = [](const Tracked& t) { return t; };
const auto key = [](const Tracked& t) { return t.value % 7; };
const auto wrap = [](const std::uint64_t& n) { return Tracked{n}; };
const auto time_of = [](const Tracked& t) {
    return EventTime::of_ns(static_cast<std::int64_t>(t.value));
};
const OperatorOptions broken{.name = "broken"};
const OperatorOptions before{.name = "before"};

auto tracked(Graph& graph) {
    return graph.source(Numbers{count}, {.name = "numbers"}).map(wrap, before);
}

struct Case {
    const char* name;
    std::function<void(Graph&, const Probe&)> wire;
    bool by_record = true;  ///< Called for each record, so that it may break at any of them.
    std::vector<std::string> operators = {"broken"};  ///< One of them is to be named.

    friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

template <class Wire>
Case once(const char* name, Wire wire) {
    return {name, wire, false};
}

const Case by_record[] = {
    {"filter",
     [](Graph& g, const Probe& p) {
         tracked(g).filter([p](const Tracked&) { return p(), true; }, broken).sink(ignore);
     }},
    {"keyed filter",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by(key)
             .filter([p](const Tracked&) { return p(), true; }, broken)
             .sink(ignore);
     }},
    {"flat_map, having emitted",
     [](Graph& g, const Probe& p) {
         const auto twice = [p](const Tracked& t, auto& emit) {
             emit(t);
             p();
             emit(t);
         };
         tracked(g).rebalance().flat_map<Tracked>(twice, broken).key_by(key).sink(ignore);
     }},
    {"keyed flat_map",
     [](Graph& g, const Probe& p) {
         const auto twice = [p](const Tracked& t, Emitter<Tracked>& emit) {
             emit(t);
             p();
             emit(t);
         };
         tracked(g).key_by(key).flat_map<Tracked>(twice, broken).sink(ignore);
     }},
    {"reduce",
     [](Graph& g, const Probe& p) {
         const auto last = [p](const Tracked&, const Tracked& t) { return p(), t; };
         tracked(g).key_by(key).reduce(last, broken).sink(ignore);
     }},
    {"accumulate",
     [](Graph& g, const Probe& p) {
         const auto sum = [p](Tracked& so_far, const Tracked& t) {
             so_far.value += t.value;
             p();
         };
         tracked(g)
             .key_by(key)
             .accumulate(Tracked{}, sum, Emit::every_update, broken)
             .sink([](const auto&) {});
     }},
    // Asked by the operator before it and by the one behind it.
    {"key function",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .key_by([p](const Tracked& t) { return p(), t.value % 7; })
             .reduce([](const Tracked&, const Tracked& t) { return t; }, broken)
             .sink(ignore);
     },
     true,
     {"key_by behind before", "broken"}},
    {"split function",
     [](Graph& g, const Probe& p) {
         auto branches = tracked(g).map(same, broken).split(2, [p](const Tracked& t) {
             p();
             return t.value % 2;
         });
         branches.select(0).sink(ignore);
         branches.select(1).sink(ignore);
     },
     true,
     {"split behind broken"}},
    {"split function behind a source",
     [](Graph& g, const Probe& p) {
         auto branches = g.source(Numbers{count}, broken).split(2, [p](const std::uint64_t& n) {
             p();
             return std::array{n % 2, std::uint64_t{1}};
         });
         branches.select(0).map(wrap).sink(ignore);
         branches.select(1).map(wrap).sink(ignore);
     },
     true,
     {"split behind broken"}},
    {"key function behind a source",
     [](Graph& g, const Probe& p) {
         g.source(Numbers{count}, {.name = "numbers"})
             .key_by([p](const std::uint64_t& n) { return p(), n % 7; })
             .map(wrap, broken)
             .sink(ignore);
     },
     true,
     {"key_by behind numbers", "broken"}},
    {"key function with options",
     [](Graph& g, const Probe& p) {
         tracked(g).key_by([p](const Tracked& t) { return p(), t.value % 7; }, broken).sink(ignore);
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
     {"key function behind before", "in"}},
    {"time function",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .event_time([p](const Tracked& t) { return p(), time_of(t); }, MonotonousTime{},
                         {.name = "broken"})
             .sink(ignore);
     }},
    {"time function of an order",
     [](Graph& g, const Probe& p) {
         tracked(g)
             .event_time(time_of, BoundedDisorder{Duration::max()})
             .timed_by([p](const Tracked& t) { return p(), time_of(t); })
             .apply(in_order_of_time(), broken)
             .sink(ignore);
     }},
    {"keyed sink", [](Graph& g, const Probe& p) {
         tracked(g).key_by(key).sink([p](const Tracked&) { p(); }, broken);
     }}};

const Case now_and_then[] = {
    once("open of a source",
         [](Graph& g, const Probe& p) {
             OpeningNumbers numbers;
             numbers.count = count;
             numbers.probe = p;
             g.source(numbers, broken).map(wrap).sink(ignore);
         }),
    once("open of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().map(with<Member::open>(same, p), broken).sink(ignore);
         }),
    once("open of a keyed operator",
         [](Graph& g, const Probe& p) {
             tracked(g).key_by(key).map(with<Member::open>(same, p), broken).sink(ignore);
         }),
    once("open of a sink",
         [](Graph& g, const Probe& p) {
             tracked(g).key_by(key).sink(with<Member::open>(ignore, p), broken);
         }),
    once("flush of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g)
                 .filter(with<Member::flush>([](const Tracked&) { return true; }, p), broken)
                 .sink(ignore);
         }),
    once("flush of a sink",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().sink(with<Member::flush>(ignore, p), broken);
         }),
    once("close of an operator",
         [](Graph& g, const Probe& p) {
             tracked(g).rebalance().map(with<Member::close>(same, p), broken).sink(ignore);
         }),
    once("close of a sink", [](Graph& g, const Probe& p) {
        tracked(g).rebalance().sink(with<Member::close>(ignore, p), broken);
    })};

void expect_named(const Case& one, const Probe& probe, const RunOptions& options) {
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

class CallbackFaults : public testing::TestWithParam<Case> {};

TEST_P(CallbackFaults, EndTheRunAndNameTheOperator) {
    const Case& one = GetParam();
    Probe counting;
    {
        Graph whole{"whole"};
        one.wire(whole, counting);
        run(whole, {.workers = 2, .parallelism = 1});  // of more replicas each may call
    }
    const std::uint64_t calls = *counting.calls;
    ASSERT_GE(calls, one.by_record ? count - 7 : 1);
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

const auto named = [](const auto& parameter) {
    std::string name = parameter.param.name;
    std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
    return name;
};
INSTANTIATE_TEST_SUITE_P(ByRecord, CallbackFaults, testing::ValuesIn(by_record), named);
INSTANTIATE_TEST_SUITE_P(NowAndThen, CallbackFaults, testing::ValuesIn(now_and_then), named);

// Where the states of keys are far, records are asked for their keys before they are handled.
TEST(KeyFunctionFaults, AreNamedWhileStatesAreBroughtNear) {
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
    const Case one{"far states", wire, true, {"key_by behind numbers", "far"}};
    Probe counting;
    Graph whole{"whole"};
    wire(whole, counting);
    run(whole, {.workers = 1, .block_bytes = 1024});
    const std::uint64_t calls = *counting.calls;
    ASSERT_GT(calls, 3 * 400U - 60) << "no source looked ahead";
    for (std::uint64_t at = 1; at <= calls; at += 37) {
        SCOPED_TRACE("call " + std::to_string(at));
        expect_named(one, Probe{.at = at}, {.workers = 1, .block_bytes = 1024});
    }
}

}  // namespace
}  // namespace strid
