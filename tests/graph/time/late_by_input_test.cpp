// SPDX-License-Identifier: Apache-2.0
//
// Late records where several streams meet: by each record's own input it is the same records in
// every run, whichever source runs ahead. The oracle asks each source by itself
// (window_oracle.hpp).
#include <atomic>
#include <chrono>
#include <limits>

#include <gmock/gmock.h>

#include "../windows.hpp"
#include "falters.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr std::size_t sources = 3;
constexpr Duration bound{50};
using Streams = std::vector<std::vector<Event>>;

Streams random_streams(std::uint64_t seed) {
    Streams streams;
    for (std::size_t i = 0; i < sources; ++i) {
        streams.push_back(random_events(seed * sources + i, {.too_late = 900}, event_count / 3));
    }
    return streams;
}

/// The rows as they came; with lateness some windows fire again.
template <class Windows>
Answer computed_by_input(const Streams& streams, const Windows& windows, Duration lateness,
                         const RunOptions& options) {
    Graph graph{"by input"};
    const auto keyed = [&](std::size_t i) {
        return graph.source(replay(streams[i]), {.name = "source-" + std::to_string(i)})
            .map(Falters{})
            .event_time<&Event::time>(BoundedDisorder{bound})
            .key_by<&Event::key>();
    };
    auto [results, late] = keyed(0).merge(keyed(1)).merge(keyed(2)).window(
        windows, sum, late_apart, {.lateness = lateness, .late_by = LateBy::own_input});
    using Result = typename decltype(results)::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink(collect_into(rows));
    std::move(late).sink(collect_into(late_rows));
    run(graph, options);
    Answer answer;
    for (const Result& row : rows->records()) {
        answer.rows.emplace_back(row.key, row.window.start.ns(), row.window.end.ns(),
                                 static_cast<double>(row.value));
    }
    answer.late = late_rows->records();
    std::sort(answer.late.begin(), answer.late.end());
    return answer;
}

/// The last result of each window at the end, or of a session that was merged into it.
std::vector<Row> last_of_each(const std::vector<Row>& emitted, const std::vector<Row>& at_the_end) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::map<Row, Row> last;
    for (const Row& row : emitted) {
        const auto& [key, start, end, value] = row;
        auto whole = std::upper_bound(at_the_end.begin(), at_the_end.end(),
                                      Row{key, start, most, std::numeric_limits<double>::max()});
        EXPECT_NE(whole, at_the_end.begin());
        if (whole == at_the_end.begin()) continue;
        --whole;
        EXPECT_TRUE(std::get<0>(*whole) == key && std::get<2>(*whole) >= end)
            << "a window that is part of none at the end";
        last.insert_or_assign(*whole, row);
    }
    std::vector<Row> rows;
    for (const auto& [whole, row] : last) rows.push_back(row);
    return rows;
}

/// A record with a window that is over by the watermark of its source is in no window.
TEST(LateByOwnInput, OfWindowsOfTimeIsByTheWatermarkOfEachSource) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(8)) {
        const Streams streams = random_streams(seed);
        for (const auto& windows : {sliding(100, 25), sliding(100, 100), sliding(30, 70)}) {
            for (const Duration lateness : {0ns, 120ns}) {
                std::vector<Event> taken;
                Answer oracle;
                for (const auto& events : streams) {
                    const auto asserted = watermarks(events, bound);
                    for (std::size_t i = 0; i < events.size(); ++i) {
                        const auto end = first_end(windows, events[i].time);
                        const bool is_late = end && *end + lateness <= asserted[i];
                        (is_late ? oracle.late : taken).push_back(events[i]);
                    }
                }
                oracle.rows = expected(taken, windows, bound, Duration::max(), sum_of).rows;
                sort(oracle);
                late += oracle.late.size();
                const Answer answer =
                    computed_by_input(streams, windows, lateness, run_options(seed));
                ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
                ASSERT_EQ(last_of_each(answer.rows, oracle.rows), oracle.rows) << "seed " << seed;
            }
        }
    }
    EXPECT_NE(late, 0U);
}

/// A record behind the watermark of its source by more than the lateness is in no session.
TEST(LateByOwnInput, OfSessionsIsByTheWatermarkOfEachSource) {
    const auto sessions = SessionWindows::with_gap(40ns);
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(8)) {
        const Streams streams = random_streams(seed);
        for (const Duration lateness : {0ns, 120ns}) {
            std::vector<Event> taken;
            Answer oracle;
            for (const auto& events : streams) {
                const auto asserted = watermarks(events, bound);
                for (std::size_t i = 0; i < events.size(); ++i) {
                    const bool is_late = events[i].time < asserted[i] - lateness;
                    (is_late ? oracle.late : taken).push_back(events[i]);
                }
            }
            std::sort(taken.begin(), taken.end(),
                      [](const Event& a, const Event& b) { return a.time < b.time; });
            oracle.rows = expected(taken, sessions, 0ns, 0ns, sum_of).rows;
            sort(oracle);
            late += oracle.late.size();
            const Answer answer = computed_by_input(streams, sessions, lateness, run_options(seed));
            ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
            ASSERT_EQ(last_of_each(answer.rows, oracle.rows), oracle.rows) << "seed " << seed;
            if (lateness == 0ns) {
                ASSERT_EQ(answer.rows.size(), oracle.rows.size()) << "seed " << seed;
            }
        }
    }
    EXPECT_NE(late, 0U);
}

TEST(LateByOwnInput, IsForWindowsByKey) {
    const WindowOptions by_input{.late_by = LateBy::own_input};
    const auto grouped = [](Graph& graph) {
        return graph.source(replay(std::vector<Event>{}))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>();
    };
    Graph graph{"grouped"};
    grouped(graph).window(sliding(100, 25), sum, by_input).sink([](const auto&) {});
    EXPECT_THAT(graph.explain({}), testing::HasSubstr("by key: each replica"));
    for (const bool paned : {false, true}) {
        Graph shared{"shared"};
        auto stream = grouped(shared);
        try {
            if (paned) {
                (void)std::move(stream).window(sliding(100, 25), sum, share::paned, by_input);
            } else {
                (void)std::move(stream).window(sliding(100, 25), sum, share::farmed, by_input);
            }
            ADD_FAILURE() << "nothing was thrown";
        } catch (const GraphError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("needs key_by() (or share::by_key)"));
        }
    }
}

// ---- strategies whose watermark goes back ------------------------------------------------------

/// Goes back in time at one record, and further at the next. Within one batch, no operator
/// downstream would see it.
struct Dips {
    EventTime watermark_ = EventTime::earliest();
    void observe(const Event& event, EventTime time) {
        watermark_ = event.value == 77 ? time - 1'000ns : time;
    }
    [[nodiscard]] EventTime watermark() const { return watermark_; }
};

TEST(AStrategyOfOnesOwn, ThatGoesBackAndRecoversEndsTheRun) {
    for (const std::uint64_t seed : test::seeds(8)) {
        for (const std::size_t dip : {std::size_t{1}, std::size_t{200}, std::size_t{398}}) {
            std::vector<Event> events;
            for (std::size_t i = 0; i < 400; ++i) {
                events.push_back({1, at(static_cast<std::int64_t>(5'000 + i)), i == dip ? 77 : 0});
            }
            Graph graph{"dips"};
            graph.source(replay(events))
                .event_time<&Event::time>(Dips{}, {.name = "time"})
                .key_by<&Event::key>()
                .window(sliding(100, 100), sum)
                .sink([](const auto&) {});
            try {
                run(graph, run_options(seed));
                ADD_FAILURE() << "seed " << seed << ", record " << dip << ": nothing was thrown";
            } catch (const OperatorError& error) {
                EXPECT_EQ(error.operator_name(), "time");
                EXPECT_THAT(error.what(), testing::HasSubstr("watermark"));
            }
        }
    }
}

}  // namespace
}  // namespace strid
