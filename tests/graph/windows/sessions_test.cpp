// SPDX-License-Identifier: Apache-2.0
//
// Sessions, and windows of a number of records, in a running graph against the obvious computation
// (window_oracle.hpp, and here for all that sessions say), in every mode, with several
// parallelisms, and under simulation.
#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

TEST(SessionsInAGraph, LastAsLongAsRecordsCome) {
    agrees(SessionWindows::with_gap(Duration{20}), sum, sum_of, {});
    agrees(SessionWindows::with_gap(Duration{60}), sum, sum_of, {.keys = 40});
    agrees(SessionWindows::with_gap(Duration{1}), sum, sum_of, {.keys = 2, .step = 3});
    agrees(SessionWindows::with_gap(Duration{200}), sum, sum_of, {.disorder = 300}, Duration{0});
}

/// The results of a key's sessions, and its late records, each in their order.
struct Firings {
    std::vector<Row> rows;
    std::vector<Event> late;
    friend bool operator==(const Firings&, const Firings&) = default;
};
using ByKey = std::map<std::uint32_t, Firings>;

/// Sessions of one key that take records late, record by record.
class SessionsOfAKey {
  public:
    SessionsOfAKey(std::int64_t gap, Duration lateness) : gap_(gap), lateness_(lateness) {}

    /// A session fires when the watermark has passed it, the first that is over first, and its
    /// state goes when the lateness has passed, too.
    void advance_to(EventTime asserted) {
        std::sort(open_.begin(), open_.end(),
                  [](const Session& a, const Session& b) { return a.last < b.last; });
        for (Session& session : open_) {
            if (!session.fired && is_over(session, Duration::zero(), asserted)) fire(session);
        }
        const auto closed = std::partition(open_.begin(), open_.end(), [&](const Session& session) {
            return !is_over(session, lateness_, asserted);
        });
        closed_.insert(closed_.end(), closed, open_.end());
        open_.erase(closed, open_.end());
    }

    /// At once, where a late record changes what has fired, or makes a session that is over.
    void take(const Event& event, EventTime asserted) {
        Session joined{event.key, event.time.ns(), event.time.ns(), event.value};
        const auto touches = [this, time = event.time.ns()](const Session& session) {
            return session.first - gap_ <= time && time <= session.last + gap_;
        };
        const auto holds = [this, time = event.time.ns()](const Session& session) {
            return session.first <= time && time <= session.last + gap_;
        };
        const bool is_within = std::any_of(open_.begin(), open_.end(), holds);
        if (std::any_of(closed_.begin(), closed_.end(), touches) ||
            (!is_within && is_over(joined, lateness_, asserted))) {
            firings_.late.push_back(event);
            return;
        }
        for (const Session& session : open_) {
            if (!touches(session)) continue;
            joined.first = std::min(joined.first, session.first);
            joined.last = std::max(joined.last, session.last);
            joined.total += session.total;
        }
        std::erase_if(open_, touches);
        if (is_over(joined, Duration::zero(), asserted)) fire(joined);
        open_.push_back(joined);
    }

    [[nodiscard]] const Firings& firings() const { return firings_; }

  private:
    struct Session {
        std::uint32_t key;
        std::int64_t first;
        std::int64_t last;
        std::int64_t total;
        bool fired = false;
    };

    /// A record at the very end of a session still belongs to it.
    [[nodiscard]] bool is_over(const Session& session, Duration by, EventTime asserted) const {
        return has_passed(session.last + gap_ + 1, by, asserted);
    }
    void fire(Session& session) {
        session.fired = true;
        firings_.rows.emplace_back(session.key, session.first, session.last + gap_,
                                   static_cast<double>(session.total));
    }

    std::int64_t gap_;
    Duration lateness_;
    std::vector<Session> open_;
    std::vector<Session> closed_;  // a record that touches one is late
    Firings firings_;
};

ByKey firings_of(const std::vector<Event>& events, std::int64_t gap, Duration lateness) {
    std::map<std::uint32_t, SessionsOfAKey> keys;
    for (const Event& event : events) keys.try_emplace(event.key, gap, lateness);
    const auto asserted = watermarks(events, Duration{50});
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (auto& [key, sessions] : keys) sessions.advance_to(asserted[i]);
        keys.at(events[i].key).take(events[i], asserted[i]);
    }
    ByKey all;
    for (auto& [key, sessions] : keys) {
        sessions.advance_to(EventTime::latest());
        all.emplace(key, sessions.firings());
    }
    return all;
}

/// `build(stream)` gives sessions and their late records.
template <class Build>
ByKey firings_in_a_graph(const std::vector<Event>& events, const RunOptions& options,
                         const Build& build) {
    Graph graph{"sessions"};
    auto [results, late] =
        build(graph.source(replay(events)).event_time<&Event::time>(BoundedDisorder{Duration{50}}));
    auto rows = std::make_shared<Collected<Row>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink([rows](const auto& result) {
        std::uint32_t key = 0;  // of the whole stream
        if constexpr (std::is_same_v<decltype(result.key), std::uint32_t>) key = result.key;
        rows->add({key, result.window.start.ns(), result.window.end.ns(),
                   static_cast<double>(result.value)});
    });
    std::move(late).sink([late_rows](const Event& event) { late_rows->add(event); });
    run(graph, options);
    ByKey all;
    for (const Row& row : rows->records()) all[std::get<0>(row)].rows.push_back(row);
    for (const Event& event : late_rows->records()) all[event.key].late.push_back(event);
    return all;
}

/// Sessions of each key, with their late records.
auto sessions_by_key(std::int64_t gap, Duration lateness) {
    return [windows = SessionWindows::with_gap(Duration{gap}), lateness](auto stream) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum, late_apart,
                                                                       {.lateness = lateness});
    };
}

/// The end of the stream comes after every time, also after one before 1970.
TEST(SessionsInAGraph, FireAtTheEndOfAStreamBefore1970) {
    const std::vector<Event> events{{1, at(-504), 3}, {2, at(-495), 4}, {1, at(-490), 5}};
    const ByKey firings{{1, {.rows = {Row{1, -504, -470, 8}}, .late = {}}},
                        {2, {.rows = {Row{2, -495, -475, 4}}, .late = {}}}};
    for (const Duration lateness : {Duration{0}, Duration{300}}) {
        EXPECT_EQ(firings_of(events, 20, lateness), firings) << "the obvious computation";
        EXPECT_EQ(firings_in_a_graph(events, {}, sessions_by_key(20, lateness)), firings);
    }
}

/// Every row, also of what fires again, in the order of its key, whichever replica has it.
TEST(SessionsInAGraph, FireExactlyWhenTheirRecordsSay) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(16)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count / 2);
        auto of_one_key = events;
        for (Event& event : of_one_key) event.key = 0;
        RunOptions options = run_options(seed);
        options.parallelism = 1 + seed / 4 % 4;
        for (const auto& [gap, lateness_ns] : {std::pair{20, 0}, {20, 300}, {70, 90}, {1, 800}}) {
            const auto windows = SessionWindows::with_gap(Duration{gap});
            const Duration lateness{lateness_ns};
            const auto where = testing::Message() << "gap " << gap << ", lateness " << lateness_ns
                                                  << ", seed " << seed;
            const ByKey by_key = firings_of(events, gap, lateness);
            ASSERT_EQ(by_key, firings_in_a_graph(events, options, sessions_by_key(gap, lateness)))
                << where;
            ASSERT_EQ(firings_of(of_one_key, gap, lateness),
                      firings_in_a_graph(of_one_key, options,
                                         [&](auto stream) {
                                             return std::move(stream).window(
                                                 windows, sum, late_apart, {.lateness = lateness});
                                         }))
                << where << ", the whole stream";
            for (const auto& [key, firings] : by_key) late += firings.late.size();
        }
    }
    EXPECT_NE(late, 0U);
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
