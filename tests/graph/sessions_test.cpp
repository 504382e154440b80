// SPDX-License-Identifier: Apache-2.0
//
// Sessions, and windows of a number of records, in a running graph against the obvious computation
// (windows.hpp), in every mode, with several parallelisms, and under simulation.
#include "windows.hpp"

namespace strid {
namespace {

using namespace test;

TEST(SessionsInAGraph, LastAsLongAsRecordsCome) {
    agrees(SessionWindows::with_gap(Duration{20}), sum, sum_of, {});
    agrees(SessionWindows::with_gap(Duration{60}), sum, sum_of, {.keys = 40});
    agrees(SessionWindows::with_gap(Duration{1}), sum, sum_of, {.keys = 2, .step = 3});
    agrees(SessionWindows::with_gap(Duration{200}), sum, sum_of, {.disorder = 300}, Duration{0});
}

/// Every firing of sessions that take records late: when the watermark that stands before a record
/// has passed them, and again when a late record changes what has fired.
std::vector<Row> firings(const std::vector<Event>& events, const SessionWindows& windows,
                         Duration bound, Duration lateness) {
    struct Session {
        EventTime first;
        EventTime last;
        std::int64_t total;
        bool fired;
    };
    std::vector<Row> rows;
    std::map<std::uint32_t, std::vector<Session>> open;
    const auto fire = [&](std::uint32_t key, Session& session) {
        session.fired = true;
        rows.emplace_back(key, session.first.ns(), (session.last + windows.gap()).ns(),
                          static_cast<double>(session.total));
    };
    const auto is_over = [&](const Session& session, EventTime promised) {
        return session.last + windows.gap() < promised;
    };
    const auto promised = watermarks(events, bound);
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (auto& [key, sessions] : open) {
            for (Session& session : sessions) {
                if (!session.fired && is_over(session, promised[i])) fire(key, session);
            }
            std::erase_if(sessions, [&](const Session& session) {
                return is_over(session, promised[i] - lateness);
            });
        }
        const Event& event = events[i];
        Session joined{event.time, event.time, event.value, false};
        auto& sessions = open[event.key];
        const auto touches = [&](const Session& session) {
            return event.time >= session.first - windows.gap() &&
                   event.time <= session.last + windows.gap();
        };
        if (std::none_of(sessions.begin(), sessions.end(), touches) &&
            is_over(joined, promised[i] - lateness)) {
            continue;  // late
        }
        for (const Session& session : sessions) {
            if (!touches(session)) continue;
            joined.first = std::min(joined.first, session.first);
            joined.last = std::max(joined.last, session.last);
            joined.total += session.total;
        }
        std::erase_if(sessions, touches);
        if (is_over(joined, promised[i])) fire(event.key, joined);
        sessions.push_back(joined);
    }
    for (auto& [key, sessions] : open) {
        for (Session& session : sessions) {
            if (!session.fired) fire(key, session);
        }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

TEST(SessionsInAGraph, FireExactlyWhenTheirRecordsSay) {
    for (const std::uint64_t seed : test::seeds(16)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        for (const auto& [gap, lateness] : {std::pair{20, 0}, {20, 300}, {70, 90}}) {
            const auto windows = SessionWindows::with_gap(Duration{gap});
            const auto results = whole_stream(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(
                    windows, &Event::time, sum, {.lateness = Duration{lateness}});
            });
            std::vector<Row> rows;
            for (const auto& result : results) {
                rows.emplace_back(result.key, result.window.start.ns(), result.window.end.ns(),
                                  static_cast<double>(result.value));
            }
            std::sort(rows.begin(), rows.end());
            ASSERT_EQ(rows, firings(events, windows, Duration{50}, Duration{lateness}))
                << "gap " << gap << ", lateness " << lateness << ", seed " << seed;
        }
    }
}

TEST(CountWindowsInAGraph, FireWithTheRecordThatFillsThem) {
    const std::tuple<std::uint64_t, std::uint64_t> specs[] = {
        {10, 3}, {1, 1}, {5, 5}, {3, 10}, {400, 25}};
    for (const auto& [length, slide] : specs) {
        for (const std::uint64_t seed : test::seeds(8)) {
            const auto events = random_events(seed, {}, event_count);
            for (const OpenWindows at_end : {OpenWindows::fire, OpenWindows::drop}) {
                std::map<std::uint32_t, std::vector<Event>> by_key;
                for (const Event& event : events) by_key[event.key].push_back(event);
                std::vector<Row> oracle;
                for (const auto& [key, records] : by_key) {
                    for (std::size_t start = 0; start < records.size(); start += slide) {
                        const std::size_t end = std::min(start + length, records.size());
                        if (end - start < length && at_end == OpenWindows::drop) continue;
                        oracle.emplace_back(
                            key, start, end,
                            mean_of({records.begin() + static_cast<std::ptrdiff_t>(start),
                                     records.begin() + static_cast<std::ptrdiff_t>(end)}));
                    }
                }
                Graph graph{"windows"};
                using Result = WindowResult<std::uint32_t, double, window::CountBounds>;
                auto rows = std::make_shared<Collected<Result>>();
                graph.source(replay(events))
                    .key_by<&Event::key>()
                    .window(CountWindows::sliding(length, slide), mean, {.at_end = at_end})
                    .sink([rows](const Result& row) { rows->add(row); });
                run(graph, run_options(seed));
                std::vector<Row> answer;
                for (const Result& row : rows->records()) {
                    answer.emplace_back(row.key, row.window.start, row.window.end, row.value);
                }
                std::sort(answer.begin(), answer.end());
                std::sort(oracle.begin(), oracle.end());
                ASSERT_EQ(answer, oracle) << length << '/' << slide << " seed " << seed;
            }
        }
    }
}

}  // namespace
}  // namespace strid
