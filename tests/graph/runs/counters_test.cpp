// SPDX-License-Identifier: Apache-2.0
//
// Counters of an application's own, added up over replicas and keys in the report and its JSON.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Numbers;

constexpr std::uint64_t count = 1000;

/// Counts the even and the odd numbers that pass, and the replicas.
struct Parity {
    static constexpr FunctionTraits traits{.hears = events<Opened>, .stateless = true};

    Counter even;
    Counter odd;
    void on(const Opened& opened) {
        even = opened.context.counter("even");
        odd = opened.context.counter("odd");
        opened.context.counter("opened").add();
    }
    std::uint64_t operator()(const std::uint64_t& n) {
        (n % 2 == 0 ? even : odd).add();
        return n;
    }
};

struct CountingNumbers : Numbers {
    static constexpr SourceTraits traits{.hears = events<Opened>};
    Counter polls;
    void on(const Opened& opened) { polls = opened.context.counter("polls"); }
    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t budget) {
        polls.add();
        return Numbers::poll(emit, budget);
    }
};

struct Process {
    static constexpr FunctionTraits traits{
        .hears = events<Opened>, .sets_no_timers = true, .stateless = true};

    Counter seen;
    void on(const Opened& opened) { seen = opened.context.counter("seen"); }
    void operator()(const std::uint64_t& n, Timers&, Emitter<std::uint64_t>& emit) {
        seen.add();
        emit(n);
    }
};

TEST(Counters, AreAddedUpByOperatorAndName) {
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Graph graph{"counted"};
        const auto key = [](const std::uint64_t& n) { return n % 10; };
        graph.source(CountingNumbers{{count}, {}}, {.name = "in"})
            .rebalance()
            .map(Parity{}, {.name = "parity"})
            .key_by(key)
            .map(Parity{}, {.name = "by key"})
            .key_by(key)
            .process<std::uint64_t>(Process{}, {.name = "process"})
            .sink(
                [](const std::uint64_t& n, const Context& context) {
                    if (n % 3 == 0) context.counter("of three").add(3);
                },
                {.name = "out"});
        const RunReport report = run(graph, way.options);
        using Counts = std::map<std::string, std::uint64_t>;
        const auto of = [&report](const char* name) { return report.find(name)->counters; };
        const auto replicas = [&report](const char* name) {
            return std::uint64_t{report.find(name)->parallelism};
        };
        EXPECT_EQ(
            of("parity"),
            (Counts{{"even", count / 2}, {"odd", count / 2}, {"opened", replicas("parity")}}));
        EXPECT_EQ(
            of("by key"),
            (Counts{{"even", count / 2}, {"odd", count / 2}, {"opened", replicas("by key")}}));
        EXPECT_EQ(of("process"), (Counts{{"seen", count}}));
        EXPECT_EQ(of("out"), (Counts{{"of three", 3 * 334}}));
        EXPECT_GE(of("in").at("polls"), 1U);
        EXPECT_THAT(report.to_json(), testing::HasSubstr(R"("counters":{"of three":1002})"));
        EXPECT_THAT(report.to_json(), testing::HasSubstr(R"("records_skipped":0)"));
    }
}

TEST(Counters, WithoutARunCountNothing) {
    Counter counter;
    counter.add();
    Context{}.counter("nowhere").add(5);
}

TEST(Counters, OfReplicasShareNoLine) {
    operators::CounterSet one;
    operators::CounterSet other;
    // Each cell is a line of its own, whatever the allocator put beside it.
    std::vector<Counter> counters;
    for (int i = 0; i < 10; ++i) {
        counters.push_back(one.counter("a" + std::to_string(i)));
        counters.push_back(other.counter("a" + std::to_string(i)));
    }
    for (auto& counter : counters) counter.add(2);
    int cells = 0;
    one.for_each([&cells](const std::string&, std::uint64_t value) {
        ++cells;
        EXPECT_EQ(value, 2U);
    });
    EXPECT_EQ(cells, 10);
}

}  // namespace
}  // namespace strid
