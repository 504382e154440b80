// SPDX-License-Identifier: Apache-2.0
//
// Late records of shared windows behind several sources. Which records these are depends on the
// run; that all replicas agree about them does not. The oracle takes each record by itself: it is
// in those of its windows that were open still, the last of them among these, or late, once, and
// in none.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <strid/engine/plan/plan.hpp>

#include "joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// The records of a window by number, in any order.
struct Numbers {
    using State = std::vector<std::int64_t>;
    static constexpr bool commutative = true;

    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State lift(const Event& event) const { return {event.value}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State all = older;
        all.insert(all.end(), newer.begin(), newer.end());
        return all;
    }
    [[nodiscard]] State lower(const State& state) const { return state; }
};

constexpr std::size_t sources = 3;
constexpr std::size_t events_of_each = 250;
constexpr Duration bound{50};

/// Every event has a number of its own as its value.
std::vector<std::vector<Event>> numbered_streams(std::uint64_t seed) {
    std::vector<std::vector<Event>> streams;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < sources; ++i) {
        streams.push_back(random_events(seed * sources + i, {.too_late = 900}, events_of_each));
        for (Event& event : streams.back()) event.value = number++;
    }
    return streams;
}

struct Numbered {
    std::map<std::int64_t, Event> events;  // by number
    std::set<std::int64_t> punctual;       // not behind their source's watermark
};

Numbered by_number(const std::vector<std::vector<Event>>& streams) {
    Numbered all;
    for (const auto& events : streams) {
        const auto asserted = watermarks(events, bound);
        for (std::size_t i = 0; i < events.size(); ++i) {
            all.events.emplace(events[i].value, events[i]);
            if (events[i].time >= asserted[i]) all.punctual.insert(events[i].value);
        }
    }
    return all;
}

struct Outcome {
    /// The last result of each window: key, start, and the numbers.
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<std::int64_t>> windows;
    std::vector<Event> late;
    std::uint64_t counted_late = 0;
};

enum class Sources { busy, dozing };

auto merged(Graph& graph, const std::vector<std::vector<Event>>& streams, Sources how,
            std::uint64_t seed) {
    const auto one = [&](std::size_t i) -> TimedStream<Event, &Event::time> {
        if (how == Sources::dozing) {
            return graph.source(Dozing<Event>{streams[i], seed + i})
                .event_time<&Event::time>(SourceTime{});
        }
        return graph.source(replay(streams[i])).event_time<&Event::time>(BoundedDisorder{bound});
    };
    // Two replicas: an operator downstream has two links, one of which may lag.
    return one(0)
        .merge(one(1))
        .merge(one(2))
        .rebalance()
        .filter([](const Event&) { return true; }, {.parallelism = 2})
        .template key_by<&Event::key>();
}

template <class Results>
auto collect_windows(Results results) {
    using Result = typename Results::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    std::move(results).sink(collect_into(rows));
    return rows;
}

template <class Rows>
void put_windows(Outcome& outcome, const Rows& rows) {
    for (const auto& row : rows->records()) {
        outcome.windows.insert_or_assign({row.key, row.window.start.ns()}, row.value);
    }
}

void check_late_records(const Outcome& outcome, const std::string& where) {
    std::set<std::int64_t> in_windows;
    for (const auto& [window, numbers] : outcome.windows) {
        in_windows.insert(numbers.begin(), numbers.end());
    }
    std::set<std::int64_t> late;
    for (const Event& event : outcome.late) {
        ASSERT_TRUE(late.insert(event.value).second) << where << ": late twice";
        ASSERT_FALSE(in_windows.contains(event.value)) << where << ": late and in a window";
    }
    ASSERT_EQ(late.size(), outcome.counted_late) << where;
}

struct Case {
    std::uint64_t seed;
    Sources sources;
    TimeWindows windows;
    WindowOptions options;
    RunOptions run_as;
    std::string where;
};

/// The windows with all their records, and the windows of each record.
void check_each_record(const Outcome& outcome, const Numbered& all, const Case& one) {
    const auto& [windows, where] = std::tie(one.windows, one.where);
    const bool is_punctual = one.sources == Sources::busy;
    std::map<std::int64_t, std::set<std::int64_t>> in;  // number: starts of windows
    for (const auto& [window, numbers] : outcome.windows) {
        for (const std::int64_t number : numbers) {
            ASSERT_EQ(all.events.at(number).key, window.first) << where;
            ASSERT_TRUE(in[number].insert(window.second).second)
                << where << ": number " << number << " twice in a window";
        }
    }
    std::size_t nowhere = 0;
    for (const auto& [number, event] : all.events) {
        const auto starts = starts_of(windows, event.time);
        const auto& has = in[number];
        if (has.empty()) {
            if (!starts.empty()) ++nowhere;
            if (is_punctual && all.punctual.contains(number)) {
                ASSERT_TRUE(starts.empty()) << where << ": " << number << " was in time";
            }
            continue;
        }
        ASSERT_LE(has.size(), starts.size()) << where << ": too many windows of " << number;
        const std::set<std::int64_t> last(starts.end() - static_cast<std::ptrdiff_t>(has.size()),
                                          starts.end());
        ASSERT_EQ(has, last) << where << ": windows left out amid those of number " << number;
        if (is_punctual && all.punctual.contains(number)) {
            ASSERT_EQ(has.size(), starts.size())
                << where << ": number " << number << " was in time";
        }
    }
    ASSERT_EQ(outcome.counted_late, nowhere) << where;
}

/// Calls `check(case)` for simulated runs, and for some with threads.
template <class Check>
void in_many_runs(const Check& check) {
    for (const std::uint64_t seed : test::seeds(12)) {
        for (const Sources how : {Sources::busy, Sources::dozing}) {
            for (const auto& windows :
                 {sliding(100, 100), sliding(100, 20), sliding(100, 30, 7), sliding(30, 70)}) {
                const Duration lateness = seed % 3 == 0 ? 150ns : 0ns;
                RunOptions options = run_options(seed);
                if (seed % 4 != 1) options.mode = RunOptions::Mode::simulation;
                check(Case{seed,
                           how,
                           windows,
                           {.parallelism = 3, .lateness = lateness},
                           options,
                           "seed " + std::to_string(seed) +
                               (how == Sources::busy ? " busy" : " dozing") + " windows of " +
                               std::to_string(windows.length().count()) + '/' +
                               std::to_string(windows.slide().count())});
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST(SharedLateness, OfParallelWindowsIsOneForAllReplicas) {
    std::size_t late = 0;
    in_many_runs([&](const Case& one) {
        const auto streams = numbered_streams(one.seed);
        Graph graph{"late"};
        auto [results, late_stream] =
            merged(graph, streams, one.sources, one.seed)
                .window(one.windows, Numbers{}, share::automatic | late_apart, one.options);
        const auto rows = collect_windows(std::move(results));
        const auto late_rows = std::make_shared<Collected<Event>>();
        std::move(late_stream).sink(collect_into(late_rows));
        Outcome outcome;
        outcome.counted_late = late_in(run(graph, one.run_as));
        put_windows(outcome, rows);
        outcome.late = late_rows->records();
        late += outcome.late.size();
        check_late_records(outcome, one.where);
        check_each_record(outcome, by_number(streams), one);
    });
    EXPECT_NE(late, 0U);
}

/// The distributions that have no late records whole: those are counted at least, each once.
template <class Share>
void counts_each_late_record(const Share& share) {
    std::uint64_t late = 0;
    in_many_runs([&](const Case& one) {
        const auto streams = numbered_streams(one.seed);
        Graph graph{"late"};
        const auto rows = collect_windows(
            share(merged(graph, streams, one.sources, one.seed), one.windows, one.options));
        Outcome outcome;
        outcome.counted_late = late_in(run(graph, one.run_as));
        put_windows(outcome, rows);
        late += outcome.counted_late;
        check_each_record(outcome, by_number(streams), one);
    });
    EXPECT_NE(late, 0U);
}

TEST(SharedLateness, IsCountedOnceInParallelWindows) {
    counts_each_late_record([](auto stream, const TimeWindows& windows, const auto& options) {
        return std::move(stream).window(windows, Numbers{}, share::farmed, options);
    });
}

TEST(SharedLateness, IsCountedOnceInPanedWindows) {
    counts_each_late_record([](auto stream, const TimeWindows& windows, const auto& options) {
        return std::move(stream).window(windows, Numbers{}, share::paned, options);
    });
}

TEST(SharedLateness, IsCountedOnceInMapReduceWindows) {
    counts_each_late_record([](auto stream, const TimeWindows& windows, const auto& options) {
        return std::move(stream).window(windows, Numbers{}, share::map_reduce, options);
    });
}

/// The operators whose fragments take no input for idle before all are.
std::vector<std::string> waiting_for_idle(Graph& graph, Composition composition) {
    RunOptions options;
    options.workers = 2;
    options.composition = composition;
    std::vector<std::string> names;
    const graph::Plan plan = graph::make_plan(graph.segments(), options, 2);
    for (const graph::Fragment& fragment : plan.fragments) {
        if (!fragment.waits_for_idle || fragment.distributes) continue;
        names.push_back(graph.segments().all[fragment.segment]->operators()[fragment.first].name);
    }
    return names;
}

/// Replicas that draw watermarks themselves are idle each by itself, and do not hold back the
/// watermark.
TEST(SharedLateness, WaitsOnlyForReplicasOfOneStream) {
    for (const Composition composition : {Composition::combined, Composition::dedicated}) {
        const auto events = [](Graph& graph) {
            return graph.source(replay(std::vector<Event>{}), {.name = "source"}).rebalance();
        };
        const auto windows = [](auto stream) {
            std::move(stream)
                .template key_by<&Event::key>()
                .window(sliding(100, 100), sum, {.name = "window", .parallelism = 2})
                .sink([](const auto&) {}, {.parallelism = 2});
        };
        Graph shared{"shared"};
        windows(events(shared)
                    .filter([](const Event&) { return true; }, {.parallelism = 1})
                    .event_time<&Event::time>(MonotonousTime{})
                    .rebalance()
                    .filter([](const Event&) { return true; }, {.parallelism = 2}));
        EXPECT_EQ(waiting_for_idle(shared, composition), std::vector<std::string>{"window"});
        Graph apart{"apart"};
        windows(events(apart)
                    .filter([](const Event&) { return true; }, {.parallelism = 2})
                    .event_time<&Event::time>(MonotonousTime{}));
        EXPECT_EQ(waiting_for_idle(apart, composition), std::vector<std::string>{});
    }
}

}  // namespace
}  // namespace strid
