// SPDX-License-Identifier: Apache-2.0
//
// Where the latency of known graphs comes from. The user's functions measure themselves how long
// they take, and records say when they were born: the machine may be as busy as it likes.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/clock.hpp>
#include <strid/connector/callback.hpp>
#include <strid/program/picture.hpp>
#include <strid/stream/graph.hpp>
#include <strid/stream/report.hpp>
#include <strid/stream/stream.hpp>

#include "../../support/perturbed.hpp"

namespace strid {
namespace {

using testing::HasSubstr;

/// Eight of them fill a batch of a perturbed run or a small block.
struct Wide {
    std::int64_t number = 0;
    std::int64_t ingress_ns = 0;
    std::array<std::int64_t, 62> unused{};
};

/// So many records, so far apart, or as fast as they are taken.
struct Slow {
    using record_type = Wide;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (next_ns == 0) next_ns = now_ns();
        for (; number != count && budget != 0; --budget) {
            const std::int64_t now = now_ns();
            if (now < next_ns) return SourceStatus::idle;
            if (apart_ns == 0) next_ns = now;
            emit.ingress_at(next_ns);
            const bool more = emit(Wide{.number = number++, .ingress_ns = next_ns});
            next_ns += apart_ns;
            if (!more) return SourceStatus::more;
        }
        return number == count ? SourceStatus::finished : SourceStatus::more;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return next_ns; }

    std::int64_t count = 0;
    std::int64_t apart_ns = 0;
    std::int64_t number = 0;
    std::int64_t next_ns = 0;
    auto state() { return std::tie(count, apart_ns, number, next_ns); }
};

/// Works for so long, and says how long it really was.
class Work {
  public:
    Work(std::int64_t ns, std::atomic<std::int64_t>& worked_ns) : ns_(ns), worked_ns_(&worked_ns) {}
    void operator()(Wide& /*record*/) const {
        const std::int64_t from = now_ns();
        std::int64_t to = from;
        while (to - from < ns_) to = now_ns();
        worked_ns_->fetch_add(to - from, std::memory_order_relaxed);
    }

  private:
    std::int64_t ns_;
    std::atomic<std::int64_t>* worked_ns_;
};

struct Ends {
    std::uint64_t records = 0;
    std::int64_t latency_ns = 0;  // sum

    void add(const Wide& record) {
        ++records;
        latency_ns += now_ns() - record.ingress_ns;
    }
};

const SegmentReport& segment_of(const RunReport& report, const std::string& name) {
    for (const SegmentReport& segment : report.segments) {
        for (const OperatorReport& op : segment.operators) {
            if (op.name == name) return segment;
        }
    }
    throw Error("no operator " + name);
}

/// The sum of sampled times is no less than what each of them takes at least, and hardly more than
/// what was measured of all: half of it, and 20 ms for what the machine does besides.
void expect_within(const LatencySplit& split, std::int64_t least_ns, std::int64_t measured_ns,
                   const std::string& what) {
    EXPECT_GT(split.records, 0U) << what;
    EXPECT_GE(split.user_ns, split.records * static_cast<std::uint64_t>(least_ns)) << what;
    EXPECT_LE(static_cast<double>(split.user_ns), static_cast<double>(measured_ns) * 1.5 + 20e6)
        << what;
}

constexpr std::int64_t millisecond = 1'000'000;

TEST(LatencySplit, IsWholeAtALowRate) {
    constexpr std::int64_t count = 25;
    for (const std::size_t workers : {1U, 2U}) {
        Graph graph{"split"};
        std::atomic<std::int64_t> first_ns{0};
        std::atomic<std::int64_t> second_ns{0};
        Ends ends;
        graph.source(Slow{.count = count, .apart_ns = 10 * millisecond})
            .map(Work{millisecond, first_ns}, {.name = "first"})
            .key_by([](const Wide& record) { return record.number % 3; })
            .map(Work{millisecond / 2, second_ns}, {.name = "second"})
            .sink([&ends](const Wide& record) { ends.add(record); }, {.name = "end"});
        RunOptions options;
        options.workers = workers;
        const RunReport report = run(graph, options);

        ASSERT_EQ(ends.records, static_cast<std::uint64_t>(count));
        // Where the machine is busy, records come in bunches, of which some are left out.
        EXPECT_GE(report.path.records * 2, ends.records);
        EXPECT_LE(report.path.records, ends.records);
        expect_within(segment_of(report, "first").split, millisecond, first_ns, "first");
        expect_within(segment_of(report, "second").split, millisecond / 2, second_ns, "second");
        EXPECT_EQ(segment_of(report, "first").path.batches, 0U);
        EXPECT_EQ(segment_of(report, "end").path.records, report.path.records);

        const LatencySplit& path = report.path;
        EXPECT_GE(path.user_mean_ns, 1.5 * millisecond);
        if (path.records != ends.records) continue;
        const double mean_ns = path.latency_mean_ns();
        EXPECT_NEAR(mean_ns, report.latency.mean_ns, report.latency.mean_ns * 0.01);
        // As the sink has seen it, of each record; the report has the oldest of each batch.
        EXPECT_GE(mean_ns * count, static_cast<double>(ends.latency_ns) * 0.99);
        if (path.batches == path.records) {
            EXPECT_LE(mean_ns * count, static_cast<double>(ends.latency_ns) * 1.5 + 20e6);
        }
    }
}

TEST(LatencySplit, IsOfEachOperatorWhereNoneAreFused) {
    Graph graph{"split"};
    std::atomic<std::int64_t> short_ns{0};
    std::atomic<std::int64_t> long_ns{0};
    Ends ends;
    graph.source(Slow{.count = 20, .apart_ns = 5 * millisecond})
        .map(Work{millisecond / 5, short_ns}, {.name = "short"})
        .map(Work{2 * millisecond, long_ns}, {.name = "long"})
        .sink([&ends](const Wide& record) { ends.add(record); }, {.name = "end"});
    RunOptions options;
    options.workers = 1;
    options.fuse = false;
    const RunReport report = run(graph, options);
    expect_within(segment_of(report, "short").split, millisecond / 5, short_ns, "short");
    expect_within(segment_of(report, "long").split, 2 * millisecond, long_ns, "long");
    EXPECT_LT(segment_of(report, "short").split.user_mean_ns,
              segment_of(report, "long").split.user_mean_ns);
}

/// The consumer works for `work_ns` on each record; how often as long its records wait for it.
double waiting_of(Slow source, std::int64_t work_ns) {
    Graph graph{"queue"};
    std::atomic<std::int64_t> worked_ns{0};
    graph.source(source)
        .key_by([](const Wide& record) { return record.number; })
        .map(Work{work_ns, worked_ns}, {.name = "consumer", .parallelism = 1})
        .sink([](const Wide&) {}, {.name = "end"});
    RunOptions options;
    options.workers = 2;
    options.block_bytes = 1024;
    const RunReport report = run(graph, options);
    const LatencySplit& split = segment_of(report, "consumer").split;
    EXPECT_GT(split.batches, 0U);
    return split.waiting_mean_ns / split.user_mean_ns;
}

TEST(LatencySplit, ShowsThatRecordsWaitForASlowConsumer) {
    if (test::perturbed) GTEST_SKIP() << "perturbed: producers and consumers stop on purpose";
    // The least disturbed of several: what else runs on the machine stops a producer, whose records
    // then wait less, or makes a consumer wake up late.
    double busy = 0;
    double idle = std::numeric_limits<double>::infinity();
    // Batches of eight: at least one more waits in the ring while one is worked on.
    for (int i = 0; i < 5 && busy <= 0.9; ++i) {
        busy = std::max(busy, waiting_of({.count = 1'000}, millisecond / 10));
    }
    EXPECT_GT(busy, 0.9);
    for (int i = 0; i < 5 && idle >= busy / 2; ++i) {
        idle = std::min(idle,
                        waiting_of({.count = 15, .apart_ns = 20 * millisecond}, 10 * millisecond));
    }
    EXPECT_LT(idle, busy / 2);
}

// A source that blocks waits in its poll: that is neither latency nor work of its records.
TEST(LatencySplit, LeavesOutTheWaitOfASourceThatBlocks) {
    static constexpr std::int64_t apart_ns = 20 * millisecond;
    Graph graph{"pulled"};
    int next = 0;
    graph
        .source(from_callback(
                    [next]() mutable -> std::optional<int> {
                        std::this_thread::sleep_for(std::chrono::nanoseconds{apart_ns});
                        return next == 15 ? std::nullopt : std::optional{next++};
                    },
                    {.blocks = true}),
                {.name = "pulled"})
        .key_by([](int number) { return number; })
        .sink([](int) {}, {.name = "end", .parallelism = 2});
    // The least disturbed of several, as above.
    RunReport report = run(graph);
    for (int i = 0; i < 5 && report.latency.mean_ns >= apart_ns / 2; ++i) report = run(graph);
    EXPECT_EQ(report.latency.count, 15U);
    EXPECT_LT(report.latency.mean_ns, apart_ns / 2);
    EXPECT_LT(report.path.user_mean_ns, apart_ns / 2);
    const SegmentReport& source = segment_of(report, "pulled");
    constexpr auto half_ns = static_cast<std::uint64_t>(15 * apart_ns / 2);
    EXPECT_LT(source.busy_ns, half_ns);
    EXPECT_GT(source.idle_ns, half_ns);
}

TEST(LatencySplit, IsASampleAtAHighRate) {
    Graph graph{"fast"};
    std::uint64_t records = 0;
    graph.source(Slow{.count = 2'000'000})
        .separate()
        .sink([&records](const Wide&) { ++records; }, {.name = "end"});
    RunOptions options;
    options.workers = 2;
    const RunReport report = run(graph, options);
    const SegmentReport& end = segment_of(report, "end");
    EXPECT_GT(end.split.batches, 0U);
    EXPECT_GT(end.split.user_ns, 0U);
    EXPECT_LT(end.split.records * 2, records);
    EXPECT_LT(end.split.batches * 2, end.batches);
}

TEST(LatencySplit, IsSaneUnderAnySchedule) {
    for (const bool simulated : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            Graph graph{"perturbed"};
            std::atomic<std::int64_t> worked_ns{0};
            Ends ends;
            graph.source(Slow{.count = 500})
                .map(Work{1'000, worked_ns}, {.name = "first"})
                .key_by([](const Wide& record) { return record.number % 5; })
                .map(Work{1'000, worked_ns}, {.name = "second", .parallelism = 3})
                .sink([&ends](const Wide& record) { ends.add(record); }, {.name = "end"});
            RunOptions options;
            options.workers = 2;
            options.perturb = true;
            options.seed = seed;
            if (simulated) options.mode = RunOptions::Mode::simulation;
            const RunReport report = run(graph, options);
            EXPECT_EQ(ends.records, 500U);
            // The sinks have seen records, and the rest is not more than the latency.
            EXPECT_LE(report.path.records, ends.records);
            EXPECT_LE(report.path.user_ns + report.path.engine_ns,
                      static_cast<std::uint64_t>(report.latency.max_ns) * report.path.batches);
            for (const SegmentReport& segment : report.segments) {
                EXPECT_LE(segment.split.records, ends.records);
                EXPECT_LE(segment.split.user_ns, segment.busy_ns);
            }
        }
    }
}

TEST(LatencySplit, IsInTheMetricsAndInPictures) {
    Graph graph{"drawn"};
    std::atomic<std::int64_t> worked_ns{0};
    Ends ends;
    graph.source(Slow{.count = 5, .apart_ns = 2 * millisecond})
        .map(Work{millisecond, worked_ns}, {.name = "work"})
        .sink([&ends](const Wide& record) { ends.add(record); }, {.name = "end"});
    const RunReport report = run(graph, {});
    const std::string json = report.to_json();
    EXPECT_THAT(json, HasSubstr(R"("path":{"batches":)" + std::to_string(report.path.batches)));
    EXPECT_THAT(json, HasSubstr(R"("split":{"batches":)" +
                                std::to_string(report.segments.front().split.batches)));
    EXPECT_THAT(json, HasSubstr(R"("waiting_mean_ns":)"));
    const GraphDescription picture = annotated(graph.description({}), report);
    EXPECT_EQ(picture.path.user_ns, report.path.user_mean_ns);
    EXPECT_EQ(picture.segments.front().split.waiting_ns,
              report.segments.front().split.waiting_mean_ns);
}

TEST(LatencySplit, OfTwoSamplesIsAMeanOverTheirRecords) {
    LatencySplit some{.batches = 1,
                      .records = 1,
                      .user_ns = 100,
                      .engine_ns = 10,
                      .waiting_ns = 1'000,
                      .user_mean_ns = 100,
                      .engine_mean_ns = 10,
                      .waiting_mean_ns = 1'000};
    const LatencySplit others{.batches = 2,
                              .records = 3,
                              .user_ns = 600,
                              .engine_ns = 20,
                              .waiting_ns = 0,
                              .user_mean_ns = 300,
                              .engine_mean_ns = 10,
                              .waiting_mean_ns = 0};
    some += others;
    some += LatencySplit{};
    EXPECT_EQ(some.batches, 3U);
    EXPECT_EQ(some.records, 4U);
    EXPECT_EQ(some.user_ns, 700U);
    EXPECT_DOUBLE_EQ(some.user_mean_ns, 250);
    EXPECT_DOUBLE_EQ(some.engine_mean_ns, 10);
    EXPECT_DOUBLE_EQ(some.waiting_mean_ns, 250);
    EXPECT_DOUBLE_EQ(some.latency_mean_ns(), 510);
}

}  // namespace
}  // namespace strid
