// SPDX-License-Identifier: Apache-2.0
//
// Windows by the obvious sequential computation, as the tests compare a running graph with it:
// which windows a record lies in by looking at all of them, what is late by the promise that stands
// when it comes, each window's value from the list of its records. And random streams with
// disorder, equal times, gaps and records that come too late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../support/perturbed.hpp"
#include "../support/seeds.hpp"

namespace strid::test {

using window::CountWindows;
using window::SessionWindows;
using window::TimeWindows;

struct Event {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
    friend auto operator<=>(const Event&, const Event&) = default;
};

inline EventTime at(std::int64_t ns) {
    return EventTime::of_ns(ns);
}

struct Shape {
    std::uint32_t keys = 5;
    std::int64_t step = 10;       // time moves on by up to this much
    std::int64_t disorder = 50;   // and a record lies behind by up to this much
    std::int64_t too_late = 400;  // one in 16 by up to this much
    std::int64_t gap = 3'000;     // one in 100 times moves on by up to this much
};

inline std::vector<Event> random_events(std::uint64_t seed, const Shape& shape, std::size_t count) {
    std::mt19937_64 random{seed};
    const auto up_to = [&random](std::int64_t limit) {
        return limit <= 0
                   ? 0
                   : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit + 1));
    };
    std::vector<Event> events;
    std::int64_t now = -2'000;
    for (std::size_t i = 0; i < count; ++i) {
        now += up_to(99) == 0 ? up_to(shape.gap) : up_to(shape.step);
        const std::int64_t behind = up_to(15) == 0 ? up_to(shape.too_late) : up_to(shape.disorder);
        events.push_back({static_cast<std::uint32_t>(random() % shape.keys), at(now - behind),
                          up_to(1'000) - 500});
    }
    return events;
}

/// The promise that stands before each record.
inline std::vector<EventTime> watermarks(const std::vector<Event>& events, Duration bound) {
    std::vector<EventTime> result;
    EventTime latest = EventTime::earliest();
    for (const Event& event : events) {
        result.push_back(latest - bound);
        latest = std::max(latest, event.time);
    }
    return result;
}

/// Where the first window ends that a time lies in, if there is one.
inline std::optional<EventTime> first_end(const TimeWindows& windows, EventTime time) {
    const std::int64_t near = (time - windows.offset()).ns() / windows.slide().count();
    for (std::int64_t k = near - windows.length() / windows.slide() - 2; k <= near + 2; ++k) {
        const auto bounds = windows.bounds(k);
        if (time >= bounds.start && time < bounds.end) return bounds.end;
    }
    return std::nullopt;
}

using Row =
    std::tuple<std::uint32_t, std::int64_t, std::int64_t, double>;  // key, start, end, value

template <class A>
double value_of(const A& aggregate, const std::vector<Event>& records) {
    auto sum = aggregate.identity();
    for (const Event& record : records) sum = aggregate.combine(sum, aggregate.lift(record));
    return static_cast<double>(aggregate.lower(sum));
}

struct Answer {
    std::vector<Row> rows;  // sorted
    std::vector<Event> late;
    friend bool operator==(const Answer&, const Answer&) = default;
};

inline void sort(Answer& answer) {
    std::sort(answer.rows.begin(), answer.rows.end());
    std::sort(answer.late.begin(), answer.late.end());
}

template <class A>
Answer expected(const std::vector<Event>& events, const TimeWindows& windows, Duration bound,
                Duration lateness, const A& aggregate) {
    Answer answer;
    std::map<std::tuple<std::uint32_t, std::int64_t>, std::vector<Event>> contents;
    const auto promised = watermarks(events, bound);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        bool in_any = false;
        bool taken = false;
        const std::int64_t slide = windows.slide().count();
        const std::int64_t near = (event.time - windows.offset()).ns() / slide;
        for (std::int64_t k = near - windows.length() / windows.slide() - 2; k <= near + 2; ++k) {
            const auto bounds = windows.bounds(k);
            if (event.time < bounds.start || event.time >= bounds.end) continue;
            in_any = true;
            if (bounds.end + lateness <= promised[i]) continue;
            taken = true;
            contents[{event.key, k}].push_back(event);
        }
        if (in_any && !taken) answer.late.push_back(event);
    }
    for (const auto& [where, records] : contents) {
        const auto bounds = windows.bounds(std::get<1>(where));
        answer.rows.emplace_back(std::get<0>(where), bounds.start.ns(), bounds.end.ns(),
                                 value_of(aggregate, records));
    }
    sort(answer);
    return answer;
}

template <class A>
Answer expected(const std::vector<Event>& events, const SessionWindows& windows, Duration bound,
                Duration lateness, const A& aggregate) {
    struct Session {
        std::int64_t first;
        std::int64_t last;
        std::vector<Event> records;
    };
    Answer answer;
    std::map<std::uint32_t, std::vector<Session>> open;
    const std::int64_t gap = windows.gap().count();
    const auto close = [&](std::uint32_t key, const Session& session) {
        answer.rows.emplace_back(key, session.first, session.last + gap,
                                 value_of(aggregate, session.records));
    };
    const auto promised = watermarks(events, bound);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& event = events[i];
        const auto is_closed = [&](std::int64_t last) {
            return at(last) + windows.gap() + lateness < promised[i];
        };
        auto& sessions = open[event.key];
        std::erase_if(sessions, [&](const Session& session) {
            if (!is_closed(session.last)) return false;
            close(event.key, session);
            return true;
        });
        Session joined{event.time.ns(), event.time.ns(), {}};
        std::vector<Session> rest;
        for (Session& session : sessions) {
            if (session.first - gap <= event.time.ns() && event.time.ns() <= session.last + gap) {
                joined.first = std::min(joined.first, session.first);
                joined.last = std::max(joined.last, session.last);
                joined.records.insert(joined.records.end(), session.records.begin(),
                                      session.records.end());
            } else {
                rest.push_back(session);
            }
        }
        joined.records.push_back(event);
        if (joined.records.size() == 1 && is_closed(joined.last)) {
            answer.late.push_back(event);
            continue;
        }
        rest.push_back(joined);
        sessions = rest;
    }
    for (const auto& [key, sessions] : open) {
        for (const Session& session : sessions) close(key, session);
    }
    sort(answer);
    return answer;
}

/// What a run counted as late, wherever.
inline std::uint64_t late_in(const RunReport& report) {
    std::uint64_t late = 0;
    for (const auto& segment : report.segments) {
        for (const auto& one : segment.operators) late += one.records_late;
    }
    return late;
}

struct Setting {
    Duration bound{50};
    WindowOptions options = {};
    RunOptions run = {};
};

/// What the graph says: with lateness, of each window what it said last.
template <class Windows, class A>
Answer computed(const std::vector<Event>& events, const Windows& windows, const A& aggregate,
                const Setting& setting, std::uint64_t* counted_late = nullptr) {
    Graph graph{"windows"};
    auto stream = graph.source(replay(events))
                      .event_time(&Event::time, BoundedDisorder{setting.bound})
                      .template key_by<&Event::key>();
    auto [results, late] =
        std::move(stream).window(windows, &Event::time, aggregate, late_apart, setting.options);
    using Result = typename decltype(results)::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink(collect_into(rows));
    std::move(late).sink(collect_into(late_rows));
    const RunReport report = run(graph, setting.run);
    Answer answer;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;
    std::map<std::uint32_t, std::int64_t> ends;
    for (const Result& row : rows->records()) {
        const auto bounds = std::tuple{row.key, row.window.start.ns(), row.window.end.ns()};
        const auto [entry, is_new] = last.insert_or_assign(bounds, static_cast<double>(row.value));
        if (setting.options.lateness != Duration::zero()) continue;
        EXPECT_TRUE(is_new) << "a window fired twice";
        auto& end = ends.try_emplace(row.key, row.window.end.ns()).first->second;
        EXPECT_LE(end, row.window.end.ns()) << "windows of a key fire in the order of their ends";
        end = row.window.end.ns();
    }
    for (const auto& [bounds, value] : last) {
        const auto [key, start, end] = bounds;
        answer.rows.emplace_back(key, start, end, value);
    }
    answer.late = late_rows->records();
    sort(answer);
    if (counted_late != nullptr) *counted_late = late_in(report);
    return answer;
}

inline RunOptions run_options(std::uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    switch (seed % 4) {
        case 0:
            options.mode = RunOptions::Mode::simulation;
            break;
        case 1:
            options.mode = RunOptions::Mode::dedicated;
            break;
        default:
            options.workers = 2;
            break;
    }
    options.parallelism = 1 + seed % 3;
    constexpr Composition compositions[] = {Composition::combined, Composition::dedicated,
                                            Composition::centralised};
    options.composition = compositions[seed / 2 % 3];
    return options;
}

inline const std::size_t event_count = test::perturbed ? 600 : 3'000;

template <class Windows, class A>
void agrees(const Windows& windows, const A& aggregate, const Shape& shape,
            Duration bound = Duration{50}) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        Setting setting{.bound = bound, .run = run_options(seed)};
        std::uint64_t counted = 0;
        const Answer answer = computed(events, windows, aggregate, setting, &counted);
        const Answer oracle = expected(events, windows, bound, Duration::zero(), aggregate);
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
        ASSERT_EQ(counted, oracle.late.size()) << "seed " << seed;
    }
}

inline const auto sum = window::sum<Event>(&Event::value);
inline const auto mean = window::mean(&Event::value);

inline TimeWindows sliding(std::int64_t length, std::int64_t slide, std::int64_t offset = 0) {
    return TimeWindows::sliding(Duration{length}, Duration{slide}, Duration{offset});
}

template <class Windows, class A = decltype(sum)>
void agrees_with_lateness(const Windows& windows, const A& aggregate = sum) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        const Duration lateness{static_cast<std::int64_t>(1 + 97 * (seed % 8))};
        const Setting setting{.options = {.lateness = lateness}, .run = run_options(seed)};
        const Answer answer = computed(events, windows, aggregate, setting);
        const Answer oracle = expected(events, windows, setting.bound, lateness, aggregate);
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
        // A session that grew may have fired as what it was before.
        ASSERT_TRUE(std::includes(answer.rows.begin(), answer.rows.end(), oracle.rows.begin(),
                                  oracle.rows.end()))
            << "seed " << seed;
        if constexpr (std::is_same_v<Windows, TimeWindows>) {
            ASSERT_EQ(answer.rows.size(), oracle.rows.size()) << "seed " << seed;
        }
    }
}

/// Events that come in the order of their times.
inline auto stream_of(Graph& graph, const std::vector<Event>& ordered) {
    return graph.source(replay(ordered)).event_time(&Event::time, MonotonousTime{});
}

/// The results of what `build` puts behind the events, in the order in which they came.
template <class Build>
auto whole_stream(const std::vector<Event>& events, const RunOptions& options, const Build& build) {
    Graph graph{"whole"};
    auto stream =
        graph.source(replay(events)).event_time(&Event::time, BoundedDisorder{Duration{50}});
    auto results = build(std::move(stream));
    using Result = typename decltype(results)::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    std::move(results).sink([rows](const Result& result) { rows->add(result); });
    run(graph, options);
    return rows->records();
}

}  // namespace strid::test
