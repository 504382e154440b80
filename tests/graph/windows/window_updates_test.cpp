// SPDX-License-Identifier: Apache-2.0
//
// Windows whose rows are marked (window/update.hpp): applied one after the other to a table by key
// and bounds, they leave the windows of the records that are not late, computed at once. The
// expected windows are those of window_oracle.hpp, and sessions computed here from sorted lists.
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <strid/window/aggregates/fold.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

using Update = WindowUpdate<std::uint32_t, std::int64_t>;
using Bounds = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;  // key, start, end

Bounds bounds_of(const Update& update) {
    return {update.key, update.window.start.ns(), update.window.end.ns()};
}

struct Run {
    std::vector<Update> updates;
    std::vector<Event> late;
};

template <class Windows, class A>
Run updates_of(const std::vector<Event>& events, const Windows& windows, const A& aggregate,
               const UpdateOptions& options, const RunOptions& run_options) {
    Graph graph{"updates"};
    auto rows = std::make_shared<Collected<Update>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    auto [updates, late] = graph.source(replay(events))
                               .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                               .key_by<&Event::key>()
                               .window(windows, aggregate, late_apart, options);
    std::move(updates).sink(collect_into(rows));
    std::move(late).sink(collect_into(late_rows));
    const RunReport report = run(graph, run_options);
    EXPECT_EQ(late_in(report), late_rows->records().size());
    return {rows->records(), late_rows->records()};
}

/// The table that the rows leave. Each row has to fit what stands there before it: no two windows
/// of a key `may_overlap`, a first one takes the place of an early one at most, and what is taken
/// back is there, with its value.
std::vector<Row> applied(const std::vector<Update>& updates, bool may_overlap) {
    struct Stands {
        std::int64_t value;
        bool early;
    };
    std::map<Bounds, Stands> table;
    std::set<Bounds> given;
    for (const Update& update : updates) {
        const Bounds bounds = bounds_of(update);
        const auto at = table.find(bounds);
        if (update.revision == Revision::retracted) {
            EXPECT_NE(at, table.end());
            if (at == table.end()) continue;
            EXPECT_EQ(at->second.value, update.value);
            table.erase(at);
            continue;
        }
        const bool early = update.revision == Revision::early;
        if (update.revision != Revision::again) {
            EXPECT_TRUE(at == table.end() || at->second.early);
            EXPECT_TRUE(early || given.insert(bounds).second);
        } else if (may_overlap) {  // windows of time keep their bounds
            EXPECT_TRUE(at != table.end() && !at->second.early);
        }
        table[bounds] = {update.value, early};
        if (may_overlap) continue;
        const auto here = table.find(bounds);
        if (here != table.begin()) {
            const auto& [key, start, end] = std::prev(here)->first;
            EXPECT_TRUE(key != update.key || end < update.window.start.ns());
        }
        if (std::next(here) != table.end()) {
            const auto& [key, start, end] = std::next(here)->first;
            EXPECT_TRUE(key != update.key || start > update.window.end.ns());
        }
    }
    std::vector<Row> rows;
    for (const auto& [bounds, stands] : table) {
        EXPECT_FALSE(stands.early) << "a window was never completed";
        const auto& [key, start, end] = bounds;
        rows.emplace_back(key, start, end, static_cast<double>(stands.value));
    }
    return rows;
}

/// The records that sessions take: those whose own session is not closed, and those that lie in one
/// that is not closed. Their sessions, from all of them at once.
Answer batch_sessions(const std::vector<Event>& events, Duration gap, Duration lateness) {
    Answer answer;
    std::map<std::uint32_t, std::multiset<std::int64_t>> taken;
    const auto asserted = watermarks(events, Duration{50});
    std::map<std::uint32_t, std::vector<Event>> records;
    const auto is_closed = [&](std::int64_t last, EventTime watermark) {
        return at(last) + gap + Duration{1} + lateness <= watermark;
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        const std::int64_t time = event.time.ns();
        auto& times = taken[event.key];
        if (is_closed(time, asserted[i])) {
            const auto next = times.lower_bound(time);
            const bool within =
                next != times.end() && (*next == time || (next != times.begin() &&
                                                          *next - *std::prev(next) <= gap.count()));
            auto last = next;
            while (within && std::next(last) != times.end() &&
                   *std::next(last) - *last <= gap.count()) {
                ++last;
            }
            if (!within || is_closed(*last, asserted[i])) {
                answer.late.push_back(event);
                continue;
            }
        }
        times.insert(time);
        records[event.key].push_back(event);
    }
    for (auto& [key, list] : records) {
        std::stable_sort(list.begin(), list.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; });
        for (std::size_t first = 0; first < list.size();) {
            std::size_t end = first + 1;
            double total = static_cast<double>(list[first].value);
            for (; end < list.size() && list[end].time - list[end - 1].time <= gap; ++end) {
                total += static_cast<double>(list[end].value);
            }
            answer.rows.emplace_back(key, list[first].time.ns(), (list[end - 1].time + gap).ns(),
                                     total);
            first = end;
        }
    }
    sort(answer);
    return answer;
}

void sessions_agree(Duration gap, Duration lateness, Duration early_every, std::uint64_t seed) {
    const auto events = random_events(seed, {.too_late = 900}, event_count);
    auto run = updates_of(events, SessionWindows::with_gap(gap), sum,
                          {.window = {.lateness = lateness}, .early_every = early_every},
                          run_options(seed));
    const Answer oracle = batch_sessions(events, gap, lateness);
    std::sort(run.late.begin(), run.late.end());
    const std::string where = fmt::format("gap {}, lateness {}, early {}, seed {}", gap.count(),
                                          lateness.count(), early_every.count(), seed);
    ASSERT_EQ(run.late, oracle.late) << where;
    ASSERT_EQ(applied(run.updates, false), oracle.rows) << where;
}

TEST(WindowUpdates, LeaveTheSessionsOfAllRecordsAtOnce) {
    for (const std::uint64_t seed : test::seeds(8)) {
        for (const auto& [gap, lateness] : {std::pair{20, 0}, {20, 300}, {70, 90}, {1, 1'000}}) {
            sessions_agree(Duration{gap}, Duration{lateness}, 0ns, seed);
        }
        sessions_agree(Duration{70}, Duration{200}, 1ns, seed);
        sessions_agree(Duration{70}, Duration{200}, 50us, seed);
    }
}

TEST(WindowUpdates, LeaveTheWindowsOfAllRecordsAtOnce) {
    const auto fold = window::fold<Event>(
        std::int64_t{0}, [](std::int64_t& total, const Event& event) { total += event.value; });
    for (const std::uint64_t seed : test::seeds(2)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        for (const auto& windows : {sliding(100, 100), sliding(100, 30), sliding(30, 70)}) {
            for (const Duration lateness : {0ns, 200ns}) {
                for (const Duration early : {0ns, 1ns}) {
                    const UpdateOptions options{.window = {.lateness = lateness},
                                                .early_every = early};
                    auto run = updates_of(events, windows, sum, options, run_options(seed));
                    const Answer oracle = expected(events, windows, Duration{50}, lateness, sum_of);
                    ASSERT_EQ(applied(run.updates, true), oracle.rows) << "seed " << seed;
                    run = updates_of(events, windows, fold, options, run_options(seed));
                    ASSERT_EQ(applied(run.updates, true), oracle.rows) << "seed " << seed;
                }
            }
        }
    }
}

/// Between the first and the last window of each key there is one of every number.
TEST(WindowUpdates, FillWindowsWithoutARecord) {
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        for (const auto& windows : {sliding(100, 100), sliding(100, 30), sliding(30, 70)}) {
            for (const Duration lateness : {0ns, 200ns}) {
                const auto run = updates_of(
                    events, windows, sum, {.window = {.lateness = lateness}, .fill_max = 1'000'000},
                    run_options(seed));
                std::map<Bounds, double> filled;
                const Answer oracle = expected(events, windows, Duration{50}, lateness, sum_of);
                std::optional<Bounds> before;
                for (const auto& [key, start, end, value] : oracle.rows) {
                    if (before && std::get<0>(*before) == key) {
                        for (auto at = std::get<1>(*before); at < start;
                             at += windows.slide().count()) {
                            filled.try_emplace({key, at, at + windows.length().count()}, 0.0);
                        }
                    }
                    before = Bounds{key, start, end};
                    filled[*before] = value;
                }
                std::vector<Row> rows;
                for (const auto& [bounds, value] : filled) {
                    rows.emplace_back(std::get<0>(bounds), std::get<1>(bounds), std::get<2>(bounds),
                                      value);
                }
                ASSERT_EQ(applied(run.updates, true), rows) << "seed " << seed;
            }
        }
    }
}

TEST(WindowUpdates, FillNoMoreWindowsThanTheyMay) {
    const std::vector<Event> events = {{1, at(5), 1}, {1, at(1'005), 2}};
    const auto run_with = [&](std::uint64_t fill_max) {
        return updates_of(events, sliding(10, 10), sum, {.fill_max = fill_max}, run_options(0));
    };
    EXPECT_EQ(run_with(99).updates.size(), 101U);
    EXPECT_THROW((void)run_with(98), Error);
}

/// One session of the end of another: retracted, and given again as what both have become.
TEST(WindowUpdates, SayWhichSessionsAreNoMore) {
    const std::vector<Event> events = {
        {1, at(0), 1}, {1, at(20), 2}, {2, at(1'000), 0}, {1, at(10), 4}, {2, at(3'000), 0}};
    const auto run = updates_of(events, SessionWindows::with_gap(Duration{10}), sum,
                                {.window = {.lateness = Duration{2'000}}}, run_options(2));
    std::vector<std::pair<Bounds, Revision>> rows;
    for (const Update& update : run.updates) {
        if (update.key == 1) rows.emplace_back(bounds_of(update), update.revision);
    }
    const std::vector<std::pair<Bounds, Revision>> expected_rows = {
        {{1, 0, 10}, Revision::first},
        {{1, 20, 30}, Revision::first},
        {{1, 0, 10}, Revision::retracted},
        {{1, 20, 30}, Revision::retracted},
        {{1, 0, 30}, Revision::again}};
    EXPECT_EQ(rows, expected_rows);
}

TEST(WindowUpdates, RefuseWhatMakesNoSense) {
    Graph graph{"refuse"};
    const auto keyed = [&graph] {
        return graph.source(replay(std::vector<Event>{}))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>();
    };
    EXPECT_THROW(
        (void)keyed().window(SessionWindows::with_gap(1ns), sum, UpdateOptions{.fill_max = 1}),
        GraphError);
    EXPECT_THROW((void)keyed().window(sliding(1, 1), sum, UpdateOptions{.early_every = -1ns}),
                 GraphError);
    EXPECT_THROW(
        (void)keyed().window(sliding(1, 1), sum, UpdateOptions{.window = {.lateness = -1ns}}),
        GraphError);
}

}  // namespace
}  // namespace strid
