// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in the applications, from file to file: their input several times over
// costs as many allocations as once. The little that is allowed is far less than one per batch.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/flights/flights.hpp"
#include "papers/2-windflow/fraud-detection/fraud_detection.hpp"
#include "papers/2-windflow/spike-detection/spike_detection.hpp"
#include "papers/2-windflow/traffic-monitoring/traffic_monitoring.hpp"
#include "papers/2-windflow/word-count/word_count.hpp"
#include "papers/2-windflow/yahoo-benchmark/yahoo_benchmark.hpp"
#include "tests/support/allocation_row.hpp"
#include "tests/support/counting_new.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/perturbed.hpp"

namespace strid::apps {
namespace {

constexpr double allocations_per_record_max = 0.001;
/// Where each key has a list of its own that grows when the threads make more of its sessions open
/// at a time than before: flights have 2,503 aircraft, and the second half has 360,000 records, so
/// that one growth of each list is 0.007 a record. An allocation for each session would be 0.9.
constexpr double allocations_with_lists_max = 0.01;

const std::filesystem::path folder_of_applications = STRID_APPLICATIONS;

/// Text of rows whose column `time` is a time in milliseconds (-1: there is none), again and again,
/// each time `span_ms` later: a stream of event time that goes on.
struct Input {
    std::string text;
    int time = -1;
    std::int64_t span_ms = 0;

    Input(const std::string& below_applications, int time_column = -1, std::int64_t span = 0)
        : time(time_column), span_ms(span) {
        std::ifstream file(folder_of_applications / below_applications, std::ios::binary);
        EXPECT_TRUE(file) << below_applications;
        text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    [[nodiscard]] std::string repeated(std::size_t times) const {
        std::string all;
        for (std::size_t i = 0; i < times; ++i) {
            all += time < 0 ? text : later(static_cast<std::int64_t>(i) * span_ms);
        }
        return all;
    }

  private:
    [[nodiscard]] std::string later(std::int64_t by_ms) const {
        std::istringstream rows(text);
        std::string all;
        for (std::string row; std::getline(rows, row); all += row + '\n') {
            std::size_t begin = 0;
            for (int i = 0; i < time; ++i) begin = row.find(',', begin) + 1;
            const std::size_t size = row.find(',', begin) - begin;
            row.replace(begin, size, std::to_string(std::stoll(row.substr(begin, size)) + by_ms));
        }
        return all;
    }
};

struct Counted {
    std::uint64_t records;
    std::uint64_t allocations;
};

/// The main input comes as the endpoints' one, the other one, where there is one, as a path.
using Build = std::function<void(Graph&, const Endpoints&, const std::string& other)>;

Counted run_counted(const Build& build, const std::string& input, const std::string& other,
                    const RunOptions& options) {
    const std::uint64_t before = test::allocations.load();
    Graph graph{"counted"};
    build(graph, {.input = input, .output = "/dev/null"}, other);
    const RunReport report = run(graph, options);
    return {report.records_in(), test::allocations.load() - before};
}

/// The input `copies` times over, and then `times` as long.
void expect_none_per_record(const std::string& what, const Build& build, std::size_t copies,
                            std::size_t times, const Input& input, const Input* other = nullptr,
                            double per_record_max = allocations_per_record_max) {
    if (test::perturbed) GTEST_SKIP() << "perturbed";
    const test::Folder folder;
    const auto files = [&](const std::string& name, std::size_t repetitions) {
        return std::pair{
            folder.write(name, input.repeated(repetitions)),
            other == nullptr ? "" : folder.write(name + "-other", other->repeated(repetitions))};
    };
    const auto [short_path, short_other] = files("short", copies);
    const auto [long_path, long_other] = files("long", copies * times);
    const std::vector<std::pair<std::string, RunOptions>> ways = {
        {"one worker", {.workers = 1}},
        {"two workers", {.workers = 2}},
        {"dedicated threads", {.mode = RunOptions::Mode::dedicated, .parallelism = 2}}};
    for (const auto& [way, options] : ways) {
        const Counted few = run_counted(build, short_path, short_other, options);
        const Counted many = run_counted(build, long_path, long_other, options);
        ASSERT_EQ(many.records, few.records * times);
        const double per_record =
            (static_cast<double>(many.allocations) - static_cast<double>(few.allocations)) /
            static_cast<double>(many.records - few.records);
        test::print_allocations(what, way, std::max(per_record, 0.0));
        EXPECT_LE(per_record, per_record_max)
            << what << ", " << way << ": " << few.allocations << " allocations for " << few.records
            << " records, " << many.allocations << " for " << many.records;
    }
}

TEST(Allocations, NoneForARecordInSpikeDetection) {
    expect_none_per_record("spike-detection",
                           [](Graph& graph, const Endpoints& ends, const auto&) {
                               spike_detection::build(graph, ends, {});
                           },
                           2, 8, {"spike-detection/data/readings.csv"});
}

TEST(Allocations, NoneForARecordInFraudDetection) {
    using fraud_detection::Score;
    const auto model = std::make_shared<const fraud_detection::MarkovModel>(
        folder_of_applications / "fraud-detection/data/model.txt");
    const Input transactions("fraud-detection/data/transactions.csv");
    const std::vector<std::pair<std::string, Score>> scores = {
        {"miss-probability", Score::miss_probability},
        {"miss-rate", Score::miss_rate},
        {"entropy-reduction", Score::entropy_reduction}};
    for (const auto& [name, score] : scores) {
        expect_none_per_record(
            "fraud-detection, " + name,
            [&, score = score](Graph& graph, const Endpoints& ends, const auto&) {
                fraud_detection::build(graph, ends, {.score = score}, model);
            },
            5, 8, transactions);
    }
}

/// Its records are lines, of some hundred words each.
TEST(Allocations, NoneForAFixInTrafficMonitoring) {
    using namespace traffic_monitoring;
    const auto index = std::make_shared<const RoadIndex>(
        read_roads(folder_of_applications / "traffic-monitoring/data/roads.csv",
                   RoadFormat::by_suffix),
        Matching{});
    // Both inputs are read by ranges with several workers, so that the lists of ranges are in both.
    constexpr std::size_t copies_of_180_kb = 16;
    const Input fixes("traffic-monitoring/data/fixes.csv");
    const std::vector<std::pair<std::string, Matcher>> matchers = {
        {"nearest", Matcher::nearest}, {"hidden-markov", Matcher::hidden_markov}};
    for (const auto& [name, matcher] : matchers) {
        expect_none_per_record(
            "traffic-monitoring, " + name,
            [&, matcher = matcher](Graph& graph, const Endpoints& ends, const auto&) {
                Options options;
                options.matcher = matcher;
                traffic_monitoring::build(graph, ends, options, index);
            },
            copies_of_180_kb, 4, fixes);
    }
}

TEST(Allocations, NoneForAWordInWordCount) {
    constexpr std::size_t copies_of_400_lines = 20;
    const Input text("word-count/data/opticks.txt");
    for (const Emit emit : {Emit::at_end, Emit::every_update}) {
        expect_none_per_record(
            emit == Emit::at_end ? "word-count" : "word-count, updates",
            [emit](Graph& graph, const Endpoints& ends, const auto&) {
                word_count::build(graph, ends, {.emit = emit},
                                  std::make_shared<word_count::ByteCount>(0));
            },
            copies_of_400_lines, 4, text);
    }
}

/// Days of flights follow each other, as the weather does: sessions end, windows close, and the
/// buffers of the join are emptied. It takes some of them until the state of every aircraft has
/// been that of one with several sessions at a time.
TEST(Allocations, NoneForARecordInFlights) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "takes a minute here, and asks for as much memory as everywhere";
#endif
    constexpr std::int64_t days_ms = 13LL * 24 * 60 * 60 * 1000;
    const Input weather(STRID_FLIGHTS "/data/weather.csv", 0, days_ms);
    expect_none_per_record(
        "flights",
        [](Graph& graph, const Endpoints& ends, const std::string& path) {
            flights::build(graph, ends,
                           {.weather = path,
                            .rotations = "/dev/null",
                            .joined = "/dev/null",
                            .late = "/dev/null"});
        },
        32, 2, {STRID_FLIGHTS "/data/flights.csv", 0, days_ms}, &weather,
        allocations_with_lists_max);
}

TEST(Allocations, NoneForARecordInTheYahooBenchmark) {
    constexpr std::int64_t minute_ms = 61'000;
    const auto campaigns = yahoo_benchmark::read_campaigns(folder_of_applications /
                                                           "yahoo-benchmark/data/campaigns.csv")
                               .current();
    expect_none_per_record("yahoo-benchmark",
                           [&](Graph& graph, const Endpoints& ends, const auto&) {
                               yahoo_benchmark::build(graph, ends, {}, campaigns);
                           },
                           40, 4, {"yahoo-benchmark/data/events.csv", 5, minute_ms});
}

}  // namespace
}  // namespace strid::apps
