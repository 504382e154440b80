// SPDX-License-Identifier: Apache-2.0
//
// The text for Prometheus of reports that are made by hand.
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/operate/prometheus.hpp>

#include "tests/support/seeds.hpp"

namespace strid::operate {
namespace {

using testing::HasSubstr;
using testing::Not;

RunReport made_report() {
    RunReport report;
    report.graph = "a \"graph\"\\\nof two lines";
    report.seconds = 2.5;
    report.fraction_done = -1;
    report.bytes_read = 77;
    SegmentReport segment;
    segment.operators = {
        {.name = "in", .kind = "source", .records_out = 12, .records_malformed = 3},
        {.name = "out",
         .kind = "sink",
         .records_in = 11,
         .state_bytes = 4096,
         .counters = {{"big", 5}}}};
    segment.busy_ns = 1'500'000'000;
    segment.queue_fill = 0.25;
    report.segments.push_back(segment);
    report.connections = {{.address = "postgres:///a?table=b"},
                          {.address = "kafka://c/d",
                           .is_up = false,
                           .times_lost = 3,
                           .bytes_held = 4096,
                           .reason = "no broker"}};
    return report;
}

/// The values by their names with labels.
std::map<std::string, double> samples(const std::string& text) {
    std::map<std::string, double> values;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        const std::size_t space = line.rfind(' ');
        EXPECT_TRUE(values.emplace(line.substr(0, space), std::stod(line.substr(space))).second)
            << line;
    }
    return values;
}

TEST(Prometheus, FiguresStandUnderTheirNamesWithEscapedLabels) {
    const std::string text = prometheus_text(made_report(), true);
    const auto values = samples(text);
    const std::string graph = R"(graph="a \"graph\"\\\nof two lines")";
    EXPECT_EQ(values.at("strid_running{" + graph + "}"), 1);
    EXPECT_EQ(values.at("strid_run_seconds{" + graph + "}"), 2.5);
    const std::string database = R"({)" + graph + R"(,connection="postgres:///a?table=b"})";
    const std::string broker = R"({)" + graph + R"(,connection="kafka://c/d"})";
    EXPECT_EQ(values.at("strid_connection_up" + database), 1);
    EXPECT_EQ(values.at("strid_connection_up" + broker), 0);
    EXPECT_EQ(values.at("strid_connection_losses_total" + broker), 3);
    EXPECT_EQ(values.at("strid_connection_held_bytes" + broker), 4096);
    EXPECT_EQ(values.at("strid_records_in_total{" + graph + "}"), 12);
    EXPECT_EQ(values.at("strid_records_out_total{" + graph + "}"), 11);
    EXPECT_EQ(values.at("strid_read_bytes_total{" + graph + "}"), 77);
    EXPECT_EQ(values.at("strid_operator_records_malformed_total{" + graph +
                        R"(,operator="in",kind="source"})"),
              3);
    EXPECT_EQ(values.at("strid_operator_state_bytes{" + graph + R"(,operator="out",kind="sink"})"),
              4096);
    EXPECT_EQ(
        values.at("strid_operator_counted_total{" + graph + R"(,operator="out",counter="big"})"),
        5);
    EXPECT_EQ(values.at("strid_segment_busy_seconds_total{" + graph + R"(,segment="in"})"), 1.5);
    EXPECT_EQ(values.at("strid_segment_queue_fill_ratio{" + graph + R"(,segment="in"})"), 0.25);
    EXPECT_THAT(text, Not(HasSubstr("strid_done_ratio")));
    EXPECT_TRUE(text.ends_with('\n'));
}

TEST(Prometheus, WhatIsKnownOfTheInputIsShown) {
    RunReport report = made_report();
    report.graph = "g";
    report.fraction_done = 0.5;
    const auto values = samples(prometheus_text(report, false));
    EXPECT_EQ(values.at(R"(strid_done_ratio{graph="g"})"), 0.5);
    EXPECT_EQ(values.at(R"(strid_running{graph="g"})"), 0);
}

TEST(Prometheus, BucketsOfLatencyCountEachRecordThatIsBelow) {
    std::mt19937_64 random(test::first_seed());
    for (int round = 0; round < 200; ++round) {
        RunReport report;
        report.graph = "g";
        std::uint64_t all = 0;
        for (std::int64_t at_most_ns = static_cast<std::int64_t>(random() % 3000);
             at_most_ns < (std::int64_t{1} << 40); at_most_ns += 1 + at_most_ns / 3) {
            report.latency.histogram.push_back({at_most_ns, random() % 100});
            all += report.latency.histogram.back().count;
        }
        report.latency.mean_ns = 2e9;
        const auto values = samples(prometheus_text(report, true));
        std::size_t buckets = 0;
        for (const auto& [name, value] : values) {
            constexpr std::string_view begin = R"(strid_latency_seconds_bucket{graph="g",le=")";
            if (!name.starts_with(begin)) continue;
            ++buckets;
            const double bound = std::stod(name.substr(begin.size()));  // "+Inf" too
            double below = 0;
            for (const LatencyBucket& one : report.latency.histogram) {
                if (static_cast<double>(one.at_most_ns) * 1e-9 <= bound * (1 + 1e-12)) {
                    below += static_cast<double>(one.count);
                }
            }
            EXPECT_EQ(value, below) << name;
        }
        EXPECT_EQ(buckets, 28U);
        EXPECT_EQ(values.at(R"(strid_latency_seconds_count{graph="g"})"), all);
        EXPECT_NEAR(values.at(R"(strid_latency_seconds_sum{graph="g"})"),
                    2.0 * static_cast<double>(all), 1e-3 * static_cast<double>(all));
    }
}

TEST(Prometheus, TheProcessHasItsFigures) {
    const auto values = samples(prometheus_text_of_process());
    EXPECT_GT(values.at("process_resident_memory_bytes"), 1e6);
    EXPECT_GT(values.at("process_cpu_seconds_total"), 0);
    EXPECT_GE(values.at("process_open_fds"), 3);
    EXPECT_GT(values.at("process_start_time_seconds"), 1.6e9);
}

}  // namespace
}  // namespace strid::operate
