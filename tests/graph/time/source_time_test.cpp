// SPDX-License-Identifier: Apache-2.0
//
// Sources that say how far their time has come, against the oracle of windows.hpp: every window and
// every late record, with the operators fused and not, in every mode and under simulation.
#include <atomic>
#include <chrono>
#include <tuple>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Reports before each record the watermark of the oracle.
struct SaysItsTime {
    using record_type = Event;
    static constexpr SourceTraits traits{.hears = events<>};
    std::vector<Event> events;
    std::vector<EventTime> watermarks;
    std::size_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != events.size(); --budget) {
            emit.watermark(watermarks[next]);
            if (!emit(events[next++])) break;
        }
        return next != events.size() ? SourceStatus::more : SourceStatus::finished;
    }
    auto state() { return std::tie(next); }
};

template <class Windows>
Answer computed_by_source_time(const std::vector<Event>& events, const Windows& windows,
                               const RunOptions& options) {
    Graph graph{"source time"};
    auto [results, late] = graph.source(SaysItsTime{events, watermarks(events, 50ns)})
                               .filter([](const Event&) { return true; })
                               .template event_time<&Event::time>(SourceTime{})
                               .template key_by<&Event::key>()
                               .window(windows, sum, late_apart);
    Answer answer;
    auto rows = std::make_shared<Collected<Row>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink([rows](const auto& row) {
        rows->add(
            {row.key, row.window.start.ns(), row.window.end.ns(), static_cast<double>(row.value)});
    });
    std::move(late).sink(collect_into(late_rows));
    run(graph, options);
    answer.rows = rows->records();
    answer.late = late_rows->records();
    sort(answer);
    return answer;
}

template <class Windows>
void agrees_by_source_time(const Windows& windows) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        const Answer oracle = expected(events, windows, 50ns, Duration::zero(), sum_of);
        late += oracle.late.size();
        for (const bool fuse : {true, false}) {
            RunOptions options = run_options(seed);
            options.fuse = fuse;
            const Answer answer = computed_by_source_time(events, windows, options);
            ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed << (fuse ? "" : ", not fused");
            ASSERT_EQ(answer.late, oracle.late) << "seed " << seed << (fuse ? "" : ", not fused");
        }
    }
    EXPECT_NE(late, 0U);
}

TEST(SourceTime, WindowsFireByTheWatermarkOfTheSource) {
    agrees_by_source_time(sliding(100, 30));
}
TEST(SourceTime, SessionsEndByTheWatermarkOfTheSource) {
    agrees_by_source_time(SessionWindows::with_gap(40ns));
}

TEST(SourceTime, AWatermarkThatGoesBackIsRefusedAndNamesTheSource) {
    Graph graph{"back"};
    SaysItsTime source{{Event{1, at(5), 0}, Event{1, at(6), 0}}, {at(5), at(4)}};
    graph.source(std::move(source), {.name = "log"})
        .event_time<&Event::time>(SourceTime{})
        .key_by<&Event::key>()
        .window(TimeWindows::tumbling(10ns), sum)
        .sink([](const auto&) {});
    try {
        run(graph);
        FAIL() << "nothing was refused";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("log"), std::string::npos) << error.what();
    }
}

TEST(SourceTime, TheSourceItselfReportsThatItIsIdle) {
    Graph graph{"idle after"};
    EXPECT_THROW((void)graph.source(SaysItsTime{})
                     .event_time<&Event::time>(SourceTime{}, {.idle_after = 1s}),
                 Error);
}

/// Reports that it is idle, or emits records of a second and the watermark behind them; then waits
/// until a window has fired, ten seconds at most.
struct WaitsForAWindow {
    using record_type = Event;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    std::shared_ptr<std::atomic<bool>> fired;
    bool silent;
    bool reported = false;
    std::int64_t give_up_ns = now_ns() + 10'000'000'000;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t) {
        if (!reported) {
            reported = true;
            if (silent) {
                emit.idle();
            } else {
                for (std::int64_t time = 0; time < 1'000; time += 10) {
                    emit(Event{1, at(time), 1});
                }
                emit.watermark(at(1'000));
            }
        }
        // Relaxed: a flag that hands over nothing.
        if (fired->load(std::memory_order_relaxed) || now_ns() > give_up_ns)
            return SourceStatus::finished;
        return SourceStatus::idle;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const { return now_ns() + 1'000'000; }
    auto state() { return std::tie(silent, reported, give_up_ns); }
};

TEST(SourceTime, AnIdleSourceHoldsNoInputBack) {
    for (const bool fuse : {true, false}) {
        Graph graph{"idle"};
        auto fired = std::make_shared<std::atomic<bool>>(false);
        const std::int64_t begin_ns = now_ns();
        const auto stream = [&](bool silent) {
            return graph.source(WaitsForAWindow{fired, silent})
                .event_time<&Event::time>(SourceTime{})
                .separate();
        };
        stream(false)
            .merge(stream(true))
            .key_by<&Event::key>()
            .window(TimeWindows::tumbling(500ns), sum)
            .sink([fired](const auto& row) {
                EXPECT_EQ(row.value, 50);
                fired->store(true, std::memory_order_relaxed);
            });
        RunOptions options;
        options.fuse = fuse;
        run(graph, options);
        EXPECT_LT(now_ns() - begin_ns, 9'000'000'000) << "no window before the end of the stream";
    }
}

}  // namespace
}  // namespace strid
