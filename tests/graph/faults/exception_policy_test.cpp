// SPDX-License-Identifier: Apache-2.0
//
// Records on which an operator's function throws: the run ends, or the record is
// left out and counted. Whatever the layout of the run, the others
// come out as they would without it; the right values are sums over the numbers that do not throw.
#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/operator/aligned.hpp>

#include "../test_sources.hpp"
#include "throwing_numbers.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::bad;
using test::check;
using test::Collection;
using test::good;
using test::is_bad;
using test::Numbers;
using test::sorted;

constexpr std::uint64_t count = test::number_count;
constexpr OnException skip = OnException::skip;

const auto key = [](const std::uint64_t& n) { return n % 5; };

/// One operator, "broken", that throws on the bad numbers and lets the good ones through.
struct Case {
    const char* name;
    std::function<void(Graph&, Collection<std::uint64_t>&, OnException)> wire;
    friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

auto into(Collection<std::uint64_t>& taken) {
    return [&taken](const std::uint64_t& n) { taken.add(n); };
}
OperatorOptions broken(OnException policy) {
    return {.name = "broken", .on_exception = policy};
}

struct Checking {
    static constexpr FunctionTraits traits{.hears = events<>, .sets_no_timers = true};
    void operator()(const std::uint64_t& n, Timers&, Emitter<std::uint64_t>& emit) {
        check(n);
        emit(n);
    }
};

const Case cases[] = {
    {"map",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .map([](const std::uint64_t& n) { return check(n), n; }, broken(policy))
             .map([](const std::uint64_t& n) { return n; })
             .sink(into(taken));
     }},
    {"map in place, in a parallel section",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .rebalance()
             .map([](std::uint64_t& n) { check(n); }, broken(policy))
             .rebalance()
             .sink(into(taken));
     }},
    {"filter, before an edge by key",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .filter([](const std::uint64_t& n) { return check(n), true; }, broken(policy))
             .key_by(key)
             .sink(into(taken));
     }},
    {"flat_map",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) { check(n), emit(n); },
                                      broken(policy))
             .sink(into(taken));
     }},
    {"keyed map",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .key_by(key)
             .map([seen = 0](const std::uint64_t& n) mutable { return ++seen, check(n), n; },
                  broken(policy))
             .sink(into(taken));
     }},
    {"accumulate",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .key_by(key)
             .accumulate(
                 std::uint64_t{0},
                 [](std::uint64_t& last, const std::uint64_t& n) { check(n), last = n; },
                 Emit::every_update, broken(policy))
             .map([](const Keyed<std::uint64_t, std::uint64_t>& k) { return k.value; })
             .sink(into(taken));
     }},
    {"process",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .key_by(key)
             .process<std::uint64_t>(Checking{}, broken(policy))
             .sink(into(taken));
     }},
    {"sink",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .sink([&taken](const std::uint64_t& n) { check(n), taken.add(n); }, broken(policy));
     }},
    {"key_by",
     [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .key_by([](const std::uint64_t& n) { return check(n), n % 5; }, broken(policy))
             .map([](const std::uint64_t& n) { return n; })
             .sink(into(taken));
     }},
    {"map that asks for it itself", [](Graph& g, auto& taken, OnException policy) {
         g.source(Numbers{count})
             .map(
                 [policy](const std::uint64_t& n) {
                     if (is_bad(n) && policy == skip) throw SkipRecord{};
                     return check(n), n;
                 },
                 {.name = "broken"})
             .sink(into(taken));
     }}};

class ExceptionPolicies : public testing::TestWithParam<Case> {};

TEST_P(ExceptionPolicies, StopTheRunOrLeaveTheRecordOut) {
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collection<std::uint64_t> taken;
        Graph skipping{"skipping"};
        GetParam().wire(skipping, taken, skip);
        const RunReport report = run(skipping, way.options);
        EXPECT_EQ(sorted(taken.take()), good);
        const OperatorReport& op = *report.find("broken");
        EXPECT_EQ(op.records_skipped, bad.size());
        EXPECT_EQ(op.records_in, count);
        EXPECT_EQ(op.records_out, op.kind == "sink" ? 0 : good.size());
        EXPECT_EQ(report.records_in(), count);
        EXPECT_EQ(report.records_out(), op.kind == "sink" ? count : good.size());

        Graph stopping{"stopping"};
        GetParam().wire(stopping, taken, OnException::stop);
        try {
            run(stopping, way.options);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "broken");
            EXPECT_THAT(error.what(), testing::HasSubstr("bad "));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, ExceptionPolicies, testing::ValuesIn(cases),
                         [](const auto& parameter) {
                             std::string name = parameter.param.name;
                             std::erase_if(name, [](char c) { return std::isalpha(c) == 0; });
                             return name;
                         });

TEST(ExceptionPolicy, TakesNothingOfOperatorsBehind) {
    for (const bool fuse : {true, false}) {
        Graph graph{"behind"};
        const auto pass = [](const std::uint64_t& n) { return n; };
        graph.source(Numbers{count})
            .map(pass, {.name = "lenient", .on_exception = skip})
            .flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) { emit(n); },
                                     {.name = "lenient too", .on_exception = skip})
            .map([](const std::uint64_t& n) { return check(n), n; }, {.name = "strict"})
            .sink([](std::uint64_t) {});
        try {
            run(graph, {.fuse = fuse});
            ADD_FAILURE() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "strict");
        }
    }
}

// The key function is asked by the router at the end of the lenient map's chain.
TEST(ExceptionPolicy, TakesNothingOfTheEdgeBehind) {
    Graph graph{"edge"};
    graph.source(Numbers{count})
        .map([](const std::uint64_t& n) { return n; }, {.name = "lenient", .on_exception = skip})
        .key_by([](const std::uint64_t& n) { return check(n), n; })
        .sink([](std::uint64_t) {});
    try {
        run(graph);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const OperatorError& error) {
        EXPECT_EQ(error.operator_name(), "key_by behind lenient");
    }
}

// Effects before the exception are not undone, as the documentation says.
TEST(ExceptionPolicy, KeepsWhatWasChangedAndEmittedBefore) {
    Graph graph{"halfway"};
    Collection<std::uint64_t> taken;
    graph.source(Numbers{count})
        .key_by([](const std::uint64_t&) { return 0; })
        .flat_map<std::uint64_t>(
            [calls = std::uint64_t{0}](const std::uint64_t& n, auto& emit) mutable {
                emit(++calls);
                check(n);
            },
            {.name = "halfway", .on_exception = skip})
        .sink(into(taken));
    const RunReport report = run(graph);
    std::vector<std::uint64_t> calls(count);
    for (std::uint64_t n = 0; n < count; ++n) calls[n] = n + 1;
    EXPECT_EQ(taken.take(), calls);
    EXPECT_EQ(report.find("halfway")->records_skipped, bad.size());
    EXPECT_EQ(report.find("halfway")->records_out, count);
}

TEST(ExceptionPolicy, IsRefusedWhereNothingCanBeSkipped) {
    const auto refusal = [](const auto& wire) -> std::string {
        Graph graph{"refused"};
        try {
            wire(graph);
            return "taken";
        } catch (const GraphError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(
        refusal([](Graph& g) {
            g.source(Numbers{1}, {.name = "in", .on_exception = skip}).sink([](std::uint64_t) {});
        }),
        "operator 'in' (source) cannot skip a record when something throws");
    EXPECT_EQ(refusal([](Graph& g) {
                  g.source(Numbers{1})
                      .apply(aligned(Alignment{std::chrono::seconds{1}}),
                             {.name = "in step", .on_exception = skip})
                      .sink([](std::uint64_t) {});
              }),
              "operator 'in step' (aligned) cannot skip a record when something throws");
}

// It may be the output's, which has taken half of what was emitted.
TEST(ExceptionPolicy, OfWantOfMemoryIsToStop) {
    Graph graph{"memory"};
    graph.source(Numbers{count})
        .map(
            [](const std::uint64_t& n) {
                if (n == 5) throw std::bad_alloc{};
                return n;
            },
            {.name = "broken", .on_exception = skip})
        .sink([](std::uint64_t) {});
    EXPECT_THROW(run(graph), OperatorError);
}

TEST(ExceptionPolicy, OfATimerIsToStop) {
    struct Alarm {
        void operator()(const std::uint64_t& n, Timers& timers, Emitter<int>&) {
            timers.at(EventTime::of_ns(static_cast<std::int64_t>(n)));
        }
        void on_timer(EventTime, Timers&, Emitter<int>&) { throw std::runtime_error("alarm"); }
    };
    Graph graph{"timer"};
    const auto time = [](const std::uint64_t& n) {
        return EventTime::of_ns(static_cast<std::int64_t>(n));
    };
    graph.source(Numbers{count})
        .event_time(time, MonotonousTime{})
        .key_by(key)
        .process<int>(Alarm{}, {.name = "alarm", .on_exception = skip})
        .sink([](int) {});
    EXPECT_THROW(run(graph), OperatorError);
}

}  // namespace
}  // namespace strid
