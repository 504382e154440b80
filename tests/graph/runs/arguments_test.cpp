// SPDX-License-Identifier: Apache-2.0
//
// The options of a run as text, and the words and numbers of reports.
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/base/topology.hpp>
#include <strid/program/arguments.hpp>

#include "../../../src/program/progress.hpp"
#include "../../support/whereabouts.hpp"
#include "../test_sources.hpp"

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

/// Source and sink are on the processors that the text names for them.
TEST(Arguments, AnAffinityIsWhereTheTasksAre) {
    const Topology topology = Topology::detect();
    const int first = topology.cores().front().processor;
    const int last = topology.cores().back().processor;
    const auto of_source = std::make_shared<test::Sightings>();
    const auto of_sink = std::make_shared<test::Sightings>();
    Graph graph{"bound"};
    graph.source(test::Numbers{100})
        .map([of_source](const std::uint64_t& n) {
            of_source->add();
            return n;
        })
        .separate()
        .sink([of_sink](const std::uint64_t&) { of_sink->add(); });
    run(graph, {.mode = RunOptions::Mode::dedicated,
                .parallelism = 1,
                .affinity = read_affinity(fmt::format("{},{}", last, first))});
    EXPECT_TRUE(test::was_only_on(*of_source, last));
    EXPECT_TRUE(test::was_only_on(*of_sink, first));
}

TEST(Arguments, TimesAreReadWithTheirUnits) {
    using namespace std::chrono_literals;
    EXPECT_EQ(read_duration("0.5s"), 500ms);
    EXPECT_EQ(read_duration("250ms"), 250ms);
    EXPECT_EQ(read_duration("3us"), 3us);
    EXPECT_EQ(read_duration("2m"), 2min);
    EXPECT_EQ(read_duration("1.5h"), 90min);
    EXPECT_EQ(read_duration("90min"), 90min);
    EXPECT_EQ(read_duration("7ns"), 7ns);
    EXPECT_EQ(read_duration("2.5\u00b5s"), 2500ns);
    EXPECT_EQ(read_duration("1.5d"), 36h);
    EXPECT_EQ(read_duration("1w"), 168h);
    EXPECT_EQ(read_duration(".5s"), 500ms);
    EXPECT_EQ(read_duration("5.s"), 5s);
    EXPECT_EQ(read_duration("1e3ms"), 1s);
    EXPECT_EQ(read_duration("25E-1s"), 2500ms);
    EXPECT_EQ(read_duration("00004.10000000000000000000000000000s"), 4100ms);
    EXPECT_EQ(read_duration("9223372036854775807ns"), Duration::max());
    EXPECT_EQ(read_duration("9223372036.854775807s"), Duration::max());
    for (const char* text : {"",
                             "-1s",
                             "5y",
                             "s",
                             "5 s",
                             "0y",
                             "nan",
                             "inf",
                             "1e300",
                             "1.2.3s",
                             "0.5ns",
                             "1e-10",
                             "5",
                             ".5",
                             "1.0000000001s",
                             "9223372036854775808ns",
                             "0.0000000000000000000000000001s",
                             "15251w",
                             "2e9h",
                             "1e",
                             "e3",
                             "."}) {
        EXPECT_THROW(static_cast<void>(read_duration(text)), GraphError) << text;
        EXPECT_THROW(static_cast<void>(read_duration_or_zero(text)), GraphError) << text;
    }
    EXPECT_EQ(read_duration_or_zero("0"), 0s);
    EXPECT_EQ(read_duration_or_zero("0ms"), 0s);
    EXPECT_EQ(read_duration_or_zero("2m"), 2min);
    EXPECT_THROW(static_cast<void>(read_duration("0ms")), GraphError);
}

/// The right values come from whole numbers: d.ddd of a unit is dddd thousandths of it.
TEST(Arguments, EveryDecimalIsExact) {
    struct Unit {
        const char* name;
        std::int64_t ns;
    };
    for (const auto& [name, ns] :
         {Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000},
          Unit{"m", 60'000'000'000}, Unit{"h", 3'600'000'000'000}, Unit{"d", 86'400'000'000'000},
          Unit{"w", 604'800'000'000'000}}) {
        for (std::int64_t thousandths = 0; thousandths < 10'000; ++thousandths) {
            const auto text =
                fmt::format("{}.{:03}{}", thousandths / 1000, thousandths % 1000, name);
            ASSERT_EQ(read_duration_or_zero(text).count(), ns / 1000 * thousandths) << text;
        }
    }
    EXPECT_THROW(static_cast<void>(read_duration("4.0001us")), GraphError);
}

TEST(Arguments, WholeNumbersAreExact) {
    EXPECT_EQ(read_whole_number("1.001k"), 1'001U);
    EXPECT_EQ(read_whole_number("4.1M"), 4'100'000U);
    EXPECT_EQ(read_whole_number("18446744073709551615"), 18'446'744'073'709'551'615U);
    for (const char* text : {"0", "0.5", "1.0001k", "-1", "x", "", "1x", "18446744073709551616"}) {
        EXPECT_THROW(static_cast<void>(read_whole_number(text)), GraphError) << text;
    }
    for (int thousandths = 1; thousandths < 10'000; ++thousandths) {
        const auto text = fmt::format("{}.{:03}k", thousandths / 1000, thousandths % 1000);
        ASSERT_EQ(read_whole_number(text), static_cast<std::uint64_t>(thousandths)) << text;
        ASSERT_EQ(read_rate(text), thousandths) << text;
    }
}

TEST(Arguments, RatesAreReadWithTheirUnits) {
    EXPECT_EQ(read_rate("1e3"), 1e3);
    EXPECT_EQ(read_rate("1.5e+1k"), 15e3);
    EXPECT_EQ(read_rate("0.1"), 0.1);
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

TEST(Progress, ALineShowsRateLatencyAndTimeLeft) {
    EXPECT_EQ(progress_line(report_at(1, 1000, 0.1), report_at(3, 5000, 0.25), 2.7e6),
              "2.00 k records/s  3 MB/s  latency p50 1.50 us p99 2.50 ms  25%  0:09 left");
    EXPECT_EQ(progress_line(report_at(1, 0, -1), report_at(2, 10, -1), 0),
              "10 records/s  latency p50 1.50 us p99 2.50 ms");
}

TEST(Progress, ASummaryShowsWhatWasDone) {
    RunReport report = report_at(2, 2000, 1);
    report.tasks = 3;
    report.workers = 1;
    report.segments[0].operators[0].records_malformed = 2;
    report.segments[0].operators[0].records_late = 1;
    report.segments[0].operators[1].records_late = 1500;
    EXPECT_EQ(summary(report, 4'000'000, "done"),
              "job: done in 2.00 s, 3 tasks on 1 worker\n"
              "  in        2,000 records, 1.00 k/s, 4.0 MB, 2.0 MB/s\n"
              "  out       1,000 records, 500/s\n"
              "  latency   p50 1.50 us, p95 0 ns, p99 2.50 ms, max 0 ns\n"
              "  skipped   2 malformed records\n"
              "  late      1 record at 'in'\n"
              "  late      1,500 records at 'out'\n");
}

}  // namespace
}  // namespace strid
