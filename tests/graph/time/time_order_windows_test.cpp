// SPDX-License-Identifier: Apache-2.0
//
// Windows of time and of counts behind what puts streams in the order of time: paper 2's
// deterministic mode, whose results are the same in every run, and its probabilistic one, whose
// results are those of the records that were not dropped. Of a window's records the order counts:
// against the obvious sequential computation over the stream in order.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

constexpr std::uint64_t more(std::uint64_t so_far, const Event& event) {
    return so_far * 31 + static_cast<std::uint64_t>(event.value);
}
std::uint64_t in_a_row(std::span<const Event> events) {
    std::uint64_t hash = 7;
    for (const Event& event : events) hash = more(hash, event);
    return hash;
}

/// Of a window: its key, where it starts, and its records in a row.
using Result = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;

std::vector<Result> in_a_row(
    const std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Event>>& contents) {
    std::vector<Result> results;
    for (const auto& [where, events] : contents) {
        results.emplace_back(where.first, where.second, in_a_row(events));
    }
    return results;
}

std::vector<Result> expected(const std::vector<Event>& in_order, const TimeWindows& windows) {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Event>> contents;
    for (const Event& event : in_order) {
        for (const std::int64_t start : starts_of(windows, event.time)) {
            contents[{event.key, start}].push_back(event);
        }
    }
    return in_a_row(contents);
}

std::vector<Result> expected(const std::vector<Event>& in_order, const CountWindows& windows) {
    std::map<std::uint32_t, std::vector<Event>> keys;
    for (const Event& event : in_order) keys[event.key].push_back(event);
    std::vector<Result> results;
    for (const auto& [key, events] : keys) {
        for (std::uint64_t start = 0; start < events.size(); start += windows.slide()) {
            const auto length = std::min(windows.length(), events.size() - start);
            results.emplace_back(key, static_cast<std::int64_t>(start),
                                 in_a_row(std::span(events).subspan(start, length)));
        }
    }
    return results;
}

const TimeWindows times[] = {sliding(100, 100), sliding(100, 30), sliding(20, 70)};
const CountWindows counts[] = {CountWindows::tumbling(5), CountWindows::sliding(7, 3)};

std::int64_t start_of(const window::TimeBounds& bounds) {
    return bounds.start.ns();
}
std::int64_t start_of(const window::CountBounds& bounds) {
    return static_cast<std::int64_t>(bounds.start);
}

using Results = std::shared_ptr<Collected<Result>>;

auto into(const Results& results) {
    return [results](const auto& one) { results->add({one.key, start_of(one.window), one.value}); };
}
std::vector<Result> sorted(const Results& results) {
    auto all = results->records();
    std::sort(all.begin(), all.end());
    return all;
}

/// Windows over records that come in order. Full content and folds take their records as they
/// come.
template <class S>
Results windowed(S in_order, const TimeWindows& windows) {
    auto results = std::make_shared<Collected<Result>>();
    std::move(in_order)
        .template key_by<&Event::key>()
        .window(windows,
                window::content<Event>([](std::span<const Event> all) { return in_a_row(all); }))
        .sink(into(results));
    return results;
}
template <class S>
Results windowed(S in_order, const CountWindows& windows) {
    auto results = std::make_shared<Collected<Result>>();
    std::move(in_order)
        .template key_by<&Event::key>()
        .window(windows, window::fold<Event>(std::uint64_t{7},
                                             [](std::uint64_t& so_far, const Event& event) {
                                                 so_far = more(so_far, event);
                                             }))
        .sink(into(results));
    return results;
}

/// Records of three sources, some of them behind the watermark; the values identify the records.
struct ThreeSources {
    explicit ThreeSources(std::uint64_t seed) {
        std::vector<std::pair<std::size_t, Event>> taken;
        for (std::size_t number = 0; number != all.size(); ++number) {
            auto events = random_events(3 * seed + number, {.step = 3}, event_count);
            const auto asserted = watermarks(events, Duration{50});
            for (std::size_t i = 0; i != events.size(); ++i) {
                events[i].value = static_cast<std::int64_t>(3 * i + number);
                if (events[i].time < asserted[i]) {
                    ++late;
                } else {
                    taken.emplace_back(number, events[i]);
                }
            }
            all[number] = std::move(events);
        }
        // By time, then by source; of one source as they came.
        std::stable_sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second.time, a.first) < std::tie(b.second.time, b.first);
        });
        for (const auto& [number, event] : taken) in_order.push_back(event);
    }

    [[nodiscard]] auto merged(Graph& graph) const {
        const auto source = [&](std::size_t number) {
            return graph.source(replay(all[number]))
                .event_time<&Event::time>(BoundedDisorder{Duration{50}});
        };
        auto first = source(0);
        auto second = source(1);
        auto third = source(2);
        return std::move(first).merge(std::move(second), std::move(third));
    }

    std::array<std::vector<Event>, 3> all;
    std::vector<Event> in_order;
    std::size_t late = 0;
};

template <class Windows>
void are_the_same_in_every_run(const Windows& windows) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const ThreeSources sources(seed);
        late += sources.late;
        Graph graph{"deterministic"};
        const Results results = windowed(sources.merged(graph).apply(in_order_of_time()), windows);
        const RunReport report = run(graph, run_options(seed));
        ASSERT_EQ(sorted(results), expected(sources.in_order, windows)) << "seed " << seed;
        ASSERT_EQ(late_in(report), sources.late) << "seed " << seed;
    }
    EXPECT_NE(late, 0U);
}

TEST(TimeOrder, WindowsOfTimeBehindAreTheSameInEveryRun) {
    for (const TimeWindows& windows : times) are_the_same_in_every_run(windows);
}
TEST(TimeOrder, WindowsOfCountsBehindAreTheSameInEveryRun) {
    for (const CountWindows& windows : counts) are_the_same_in_every_run(windows);
}

/// Takes down what passes.
struct Tap {
    std::shared_ptr<Collected<Event>> passed;

    bool operator()(const Event& event) const {
        passed->add(event);
        return true;
    }
};

template <class Windows>
void are_those_of_what_was_not_dropped(const Windows& windows) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const ThreeSources sources(seed);
        Graph graph{"probabilistic"};
        const Tap tap{std::make_shared<Collected<Event>>()};
        auto dropped = std::make_shared<Collected<Event>>();
        auto [records, late] =
            sources.merged(graph).apply(k_slack(field<&Event::time>), late_apart);
        const Results results = windowed(std::move(records).filter(tap), windows);
        std::move(late).sink([dropped](const Event& event) { dropped->add(event); });
        const RunReport report = run(graph, run_options(seed));
        auto passed = tap.passed->records();
        ASSERT_EQ(sorted(results), expected(passed, windows)) << "seed " << seed;
        ASSERT_TRUE(std::is_sorted(passed.begin(), passed.end(),
                                   [](const auto& a, const auto& b) { return a.time < b.time; }))
            << "seed " << seed;
        // Each record went one of the two ways, and only dropped records are counted.
        auto both_ways = dropped->records();
        ASSERT_EQ(late_in(report), both_ways.size()) << "seed " << seed;
        both_ways.insert(both_ways.end(), passed.begin(), passed.end());
        std::vector<Event> all;
        for (const auto& events : sources.all) all.insert(all.end(), events.begin(), events.end());
        std::sort(both_ways.begin(), both_ways.end());
        std::sort(all.begin(), all.end());
        ASSERT_EQ(both_ways, all) << "seed " << seed;
    }
}

TEST(KSlack, WindowsOfTimeBehindAreThoseOfWhatWasNotDropped) {
    for (const TimeWindows& windows : times) are_those_of_what_was_not_dropped(windows);
}
TEST(KSlack, WindowsOfCountsBehindAreThoseOfWhatWasNotDropped) {
    for (const CountWindows& windows : counts) are_those_of_what_was_not_dropped(windows);
}

}  // namespace
}  // namespace strid
