// SPDX-License-Identifier: Apache-2.0
//
// Every operator by key against the obvious sequential computation, under every way to run a graph.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Collected;
using test::Numbers;

const std::uint64_t count = test::perturbed ? 600 : 3000;

TEST(KeyedOperators, AKeyedMapHasOneStatePerKeyAndKeepsItsOrder) {
    struct Seen {
        std::uint64_t key, value, index;
        auto operator<=>(const Seen&) const = default;
    };
    struct Numbering {
        std::uint64_t seen = 0;
        Seen operator()(const std::uint64_t& n) { return {n % 37, n, seen++}; }
    };
    std::vector<Seen> expected;
    for (std::uint64_t n = 0; n < count; ++n) expected.push_back({n % 37, n, n / 37});
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<Seen> collected;
        Graph graph{"keyed"};
        graph.source(Numbers{count})
            .key_by([](const std::uint64_t& n) { return n % 37; })
            .map(Numbering{})
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

TEST(KeyedOperators, AccumulateEmitsEveryUpdateOrTheEnd) {
    using Pair = std::pair<std::uint64_t, std::uint64_t>;
    std::map<std::uint64_t, std::uint64_t> sums;
    std::vector<Pair> updates;
    for (std::uint64_t n = 0; n < count; ++n) updates.emplace_back(n % 11, sums[n % 11] += n);
    std::vector<Pair> finals(sums.begin(), sums.end());
    std::sort(updates.begin(), updates.end());
    for (const auto& way : all_ways()) {
        for (const auto emit : {Emit::every_update, Emit::at_end}) {
            SCOPED_TRACE(way.name);
            Collected<Pair> collected;
            Graph graph{"accumulate"};
            graph.source(Numbers{count})
                .key_by([](const std::uint64_t& n) { return n % 11; })
                .accumulate(
                    std::uint64_t{0}, [](std::uint64_t& sum, const std::uint64_t& n) { sum += n; },
                    emit)
                .map([](const Keyed<std::uint64_t, std::uint64_t>& k) {
                    return Pair{k.key, k.value};
                })
                .sink(collected.sink());
            run(graph, way.options);
            EXPECT_EQ(collected.sorted(), emit == Emit::at_end ? finals : updates);
        }
    }
}

TEST(KeyedOperators, ReduceCombinesTheRecordsOfAKey) {
    std::map<std::uint64_t, std::uint64_t> maxima;
    std::vector<std::uint64_t> expected;
    const auto scrambled = [](std::uint64_t n) { return n * 7919 % 1009; };
    for (std::uint64_t n = 0; n < count; ++n) {
        auto& maximum = maxima[scrambled(n) % 5];
        expected.push_back(maximum = std::max(maximum, scrambled(n)));
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"reduce"};
        graph.source(Numbers{count})
            .map([&](const std::uint64_t& n) { return scrambled(n); })
            .key_by([](const std::uint64_t& n) { return n % 5; })
            .reduce([](const std::uint64_t& a, const std::uint64_t& b) { return std::max(a, b); })
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

/// True for each third record that it is asked about: of a key, where there is one for each key.
struct EachThird {
    std::uint64_t seen = 0;
    bool operator()(const std::uint64_t&) { return seen++ % 3 == 0; }
};

TEST(KeyedOperators, AFilterHasOneStatePerKey) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        if (n / 11 % 3 == 0) expected.push_back(n);
    }
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"filter"};
        graph.source(Numbers{count})
            .key_by([](const std::uint64_t& n) { return n % 11; })
            .filter(EachThird{})
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

/// Emits what it was given before, the oldest first, and so as many records as it has seen of late.
struct LastTwo {
    std::vector<std::uint64_t> kept;
    template <class Emit>
    void operator()(const std::uint64_t& n, Emit& emit) {
        kept.push_back(n);
        if (kept.size() > 2) kept.erase(kept.begin());
        for (const std::uint64_t one : kept) emit(1000 * n + one % 1000);
    }
    auto state() { return std::tie(kept); }
};

TEST(KeyedOperators, AFlatMapHasOneStatePerKey) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        if (n >= 13) expected.push_back(1000 * n + (n - 13) % 1000);
        expected.push_back(1000 * n + n % 1000);
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"flat_map"};
        graph.source(Numbers{count})
            .key_by([](const std::uint64_t& n) { return n % 13; })
            .flat_map<std::uint64_t>(LastTwo{})
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

// A key belongs to one replica at a time, and a function without state is asked as it is.
TEST(KeyedOperators, FunctionsWithoutStateSeeAllRecordsOfAKeyInOneReplica) {
    using Seen = std::pair<std::uint64_t, std::size_t>;  // the key and the replica
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<Seen> collected;
        Graph graph{"replicas"};
        graph.source(Numbers{count})
            .key_by([](const std::uint64_t& n) { return n % 17; })
            .flat_map<Seen>([](const std::uint64_t& n, auto& emit, const Context& context) {
                emit(Seen{n % 17, context.replica});
            })
            .sink(collected.sink());
        run(graph, way.options);
        const auto all = collected.sorted();
        EXPECT_EQ(all.size(), count);
        EXPECT_EQ(std::set<Seen>(all.begin(), all.end()).size(), 17U);
    }
}

}  // namespace
}  // namespace strid
