// SPDX-License-Identifier: Apache-2.0
#include "bench_cases.hpp"

#include <string_view>

#include "../../apps/voip-stream/call_generator.hpp"
#include "hand/fraud_detection.hpp"
#include "hand/spike_detection.hpp"
#include "hand/voip_stream.hpp"
#include "hand/word_count.hpp"

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
