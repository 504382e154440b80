// SPDX-License-Identifier: Apache-2.0
//
// The options of a run as text, and the words and numbers that a run is told with.
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/graph/arguments.hpp>

#include "../../src/graph/progress.hpp"

namespace strid {
namespace {

RunOptions parallelism(std::string_view text) {
    RunOptions options;
    read_parallelism(text, options);
    return options;
}

TEST(Arguments, ParallelismIsReadInEveryForm) {
    EXPECT_EQ(parallelism("auto").parallelism, 0U);
    EXPECT_EQ(parallelism("7").parallelism, 7U);
    EXPECT_EQ(parallelism("1024").parallelism, 1024U);
    const RunOptions mixed = parallelism("2,split=3,count=4");
    EXPECT_EQ(mixed.parallelism, 2U);
    EXPECT_EQ(mixed.operator_parallelism,
              (std::map<std::string, std::size_t>{{"split", 3}, {"count", 4}}));
    EXPECT_EQ(parallelism("a=b=2").operator_parallelism.at("a=b"), 2U);
}

TEST(Arguments, ImpossibleParallelismIsRefused) {
    for (const char* text : {"", "0", "-1", "1025", "10000", "99999999999999999999", "x", "2x",
                             "1.5", "2,", ",2", "split=", "split=0", "split=x", "auto=", "Auto"}) {
        EXPECT_THROW(parallelism(text), GraphError) << text;
    }
}

TEST(Arguments, AnAffinityIsNumbersOfProcessors) {
    EXPECT_EQ(read_affinity("0"), std::vector<int>{0});
    EXPECT_EQ(read_affinity("3,0,12"), (std::vector<int>{3, 0, 12}));
    for (const char* text : {"", ",", "1,", ",1", "1,,2", "-1", "1;2", "x", "1 2", "99999999999"}) {
        EXPECT_THROW(static_cast<void>(read_affinity(text)), GraphError) << text;
    }
}

TEST(Arguments, TimesAreReadWithTheirUnits) {
    using namespace std::chrono_literals;
    EXPECT_EQ(read_duration("5"), 5s);
    EXPECT_EQ(read_duration("0.5s"), 500ms);
    EXPECT_EQ(read_duration("250ms"), 250ms);
    EXPECT_EQ(read_duration("3us"), 3us);
    EXPECT_EQ(read_duration("2m"), 2min);
    EXPECT_EQ(read_duration("1.5h"), 90min);
    for (const char* text : {"", "-1s", "5d", "s", "5 s", "0d", "nan", "inf", "1e300"}) {
        EXPECT_THROW(static_cast<void>(read_duration(text)), GraphError) << text;
        EXPECT_THROW(static_cast<void>(read_duration_or_zero(text)), GraphError) << text;
    }
    EXPECT_EQ(read_duration_or_zero("0"), 0s);
    EXPECT_EQ(read_duration_or_zero("0ms"), 0s);
    EXPECT_EQ(read_duration_or_zero("2m"), 2min);
    EXPECT_THROW(static_cast<void>(read_duration("0ms")), GraphError);
}

TEST(Arguments, RatesAreReadWithTheirUnits) {
    EXPECT_EQ(read_rate("10000"), 1e4);
    EXPECT_EQ(read_rate("50k"), 5e4);
    EXPECT_EQ(read_rate("1.5M"), 1.5e6);
    for (const char* text : {"", "0", "-1", "5x", "k", "nan", "inf"}) {
        EXPECT_THROW(static_cast<void>(read_rate(text)), GraphError) << text;
    }
}

TEST(Arguments, TheNearestWordIsSuggestedOrNone) {
    const std::vector<std::string> words{"word-count", "spike-detection", "run"};
    EXPECT_EQ(suggestion("wordcount", words), " (did you mean word-count?)");
    EXPECT_EQ(suggestion("spike-detektion", words), " (did you mean spike-detection?)");
    EXPECT_EQ(suggestion("rum", words), " (did you mean run?)");
    EXPECT_EQ(suggestion("something-else-entirely", words), "");
    EXPECT_EQ(suggestion("x", {}), "");
}

TEST(Progress, NumbersHaveThreeDigits) {
    EXPECT_EQ(format_quantity(0), "0");
    EXPECT_EQ(format_quantity(87), "87");
    EXPECT_EQ(format_quantity(999), "999");
    EXPECT_EQ(format_quantity(1000), "1.00 k");
    EXPECT_EQ(format_quantity(999'600), "1.00 M");
    EXPECT_EQ(format_quantity(431'400), "431 k");
    EXPECT_EQ(format_quantity(12'345'678), "12.3 M");
    EXPECT_EQ(format_latency(850), "850 ns");
    EXPECT_EQ(format_latency(31'000), "31.0 us");
    EXPECT_EQ(format_latency(3'140'000), "3.14 ms");
    EXPECT_EQ(format_latency(99'990'000'000), "100 s");
    EXPECT_EQ(format_clock(7.2), "0:07");
    EXPECT_EQ(format_clock(59.9), "1:00");
    EXPECT_EQ(format_clock(3753), "1:02:33");
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(12'345'678), "12,345,678");
}

RunReport report_at(double seconds, std::uint64_t records, double fraction) {
    RunReport report;
    report.graph = "job";
    report.seconds = seconds;
    report.fraction_done = fraction;
    report.segments.push_back(
        {.operators = {{.name = "in", .kind = "source", .records_out = records},
                       {.name = "out", .kind = "sink", .records_in = records / 2}}});
    report.latency = {.count = 1, .p50_ns = 1500, .p99_ns = 2'500'000};
    return report;
}

TEST(Progress, ALineTellsRateLatencyAndTimeLeft) {
    EXPECT_EQ(progress_line(report_at(1, 1000, 0.1), report_at(3, 5000, 0.25), 2.7e6),
              "2.00 k records/s  3 MB/s  latency p50 1.50 us p99 2.50 ms  25%  0:09 left");
    EXPECT_EQ(progress_line(report_at(1, 0, -1), report_at(2, 10, -1), 0),
              "10 records/s  latency p50 1.50 us p99 2.50 ms");
}

TEST(Progress, ASummaryTellsWhatWasDone) {
    RunReport report = report_at(2, 2000, 1);
    report.tasks = 3;
    report.workers = 1;
    report.segments[0].operators[0].records_malformed = 2;
    EXPECT_EQ(summary(report, 4'000'000, "done"),
              "job: done in 2.00 s, 3 tasks on 1 worker\n"
              "  in        2,000 records, 1.00 k/s, 4.0 MB, 2.0 MB/s\n"
              "  out       1,000 records, 500/s\n"
              "  latency   p50 1.50 us, p95 0 ns, p99 2.50 ms, max 0 ns\n"
              "  skipped   2 malformed records\n");
}

}  // namespace
}  // namespace strid
