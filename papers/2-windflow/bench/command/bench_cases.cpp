// SPDX-License-Identifier: Apache-2.0
#include "bench_cases.hpp"

#include <algorithm>
#include <string_view>

#include <strid/stream/graph.hpp>

#include "bench/hand/spike_detection.hpp"
#include "papers/2-windflow/bench/hand/fraud_detection.hpp"
#include "papers/2-windflow/bench/hand/linear_road.hpp"
#include "papers/2-windflow/bench/hand/traffic_monitoring.hpp"
#include "papers/2-windflow/bench/hand/voip_stream.hpp"
#include "papers/2-windflow/bench/hand/word_count.hpp"
#include "papers/2-windflow/linear-road/traffic.hpp"
#include "papers/2-windflow/linear-road/writers.hpp"
#include "papers/2-windflow/voip-stream/call_generator.hpp"

namespace strid::tool {

namespace {

namespace hand = strid::bench::hand;

hand::ReplayResult count_by_hand(const std::string& input, std::chrono::nanoseconds duration,
                                 BenchAnswer& answer) {
    const hand::WordCountInput text(input);
    if (duration.count() > 0) return hand::run_word_count(text, duration);
    hand::WordCounter counter;
    for (const std::string_view line : text.lines) {
        counter.count(line, [](const hand::WordUpdate&) {});
    }
    answer.results = counter.counts().size();
    for (const auto& [word, count] : counter.counts()) answer.sum += static_cast<double>(count);
    return hand::run_word_count(text, duration);
}

BenchCase traffic_monitoring() {
    const std::string roads = "/traffic-monitoring/data/roads.csv";
    return {"traffic-monitoring",
            "traffic-monitoring",
            "traffic-monitoring/data/fixes.csv",
            {"--roads", "{}" + roads},
            [roads](const auto& input, const auto& folder, std::chrono::nanoseconds duration,
                    BenchAnswer& answer) {
                const auto result =
                    hand::run_traffic_monitoring(hand::load_fixes(input), folder + roads, duration);
                answer = {result.updates, static_cast<double>(result.checksum)};
                return hand::ReplayResult(result);
            },
            {},
            0.85,
            1.7};
}

/// Twenty expressways for ten minutes.
void make_traffic(const std::string& path, std::size_t lines) {
    using namespace apps::linear_road;
    constexpr std::int32_t expressways = 20;
    constexpr std::int32_t seconds = 600;
    constexpr std::size_t lines_of_data = 32'000;
    const std::size_t wanted = lines == 0 ? lines_of_data : lines;
    const auto cars = wanted / (static_cast<std::size_t>(expressways) * seconds / 60);
    Graph graph{"traffic"};
    graph
        .source(TrafficSource{{.expressways = expressways,
                               .seconds = seconds,
                               .cars = static_cast<std::int32_t>(std::max<std::size_t>(cars, 2)),
                               .accident_every = 300}},
                {.parallelism = 1})
        .sink(EventWriter{path, Writing::whole});
    run(graph, {.workers = 1});
}

/// Four days of a network.
void make_calls(const std::string& path, std::size_t lines) {
    constexpr std::size_t lines_of_data = 6'000;
    constexpr double telemarketers = 0.01;
    const std::size_t wanted = lines == 0 ? lines_of_data : lines;
    apps::voip_stream::CallGenerator(wanted, 1, telemarketers).write_calls(path);
}

}  // namespace

std::vector<BenchCase> bench_cases() {
    using std::chrono::nanoseconds;
    const std::string text = "word-count/data/opticks.txt";
    return {{"word-count",
             "word-count",
             text,
             {},
             [](const auto& input, const auto&, nanoseconds duration, BenchAnswer& answer) {
                 return count_by_hand(input, duration, answer);
             }},
            {"word-count, updates",
             "word-count",
             text,
             {"--emit", "updates"},
             [](const auto& input, const auto&, nanoseconds duration, BenchAnswer& answer) {
                 const auto result =
                     hand::run_word_count_updates(hand::WordCountInput(input), duration);
                 answer = {result.words, static_cast<double>(result.checksum)};
                 return hand::ReplayResult(result);
             }},
            {"spike-detection",
             "spike-detection",
             "spike-detection/data/readings.csv",
             {},
             [](const auto& input, const auto&, nanoseconds duration, BenchAnswer& answer) {
                 const auto result =
                     hand::run_spike_detection(hand::load_readings(input), duration);
                 answer = {result.spikes, result.checksum};
                 return hand::ReplayResult(result);
             }},
            {"fraud-detection",
             "fraud-detection",
             "fraud-detection/data/transactions.csv",
             {"--model", "{}/fraud-detection/data/model.txt"},
             [](const auto& input, const auto& folder, nanoseconds duration, BenchAnswer& answer) {
                 const hand::MarkovModel model(folder + "/fraud-detection/data/model.txt");
                 const auto result = hand::run_fraud_detection(
                     hand::FraudDetectionInput(input, model), model, duration);
                 answer = {result.outliers, result.checksum};
                 return hand::ReplayResult(result);
             }},
            traffic_monitoring(),
            {"linear-road",
             "linear-road",
             "linear-road/data/cars.csv.gz",
             {},
             [](const auto& input, const auto&, nanoseconds duration, BenchAnswer& answer) {
                 const auto result = hand::run_linear_road(hand::load_road_events(input), duration);
                 answer = {result.answers, static_cast<double>(result.checksum)};
                 return hand::ReplayResult(result);
             },
             make_traffic},
            {"voip-stream",
             "voip-stream",
             "voip-stream/data/calls.csv",
             {},
             [](const auto& input, const auto&, nanoseconds duration, BenchAnswer& answer) {
                 const auto result = hand::run_voip_stream(hand::load_calls(input), duration);
                 answer = {result.scores, result.checksum};
                 return hand::ReplayResult(result);
             },
             make_calls}};
}

}  // namespace strid::tool
