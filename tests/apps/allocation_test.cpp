// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in the applications, from file to file: their input several times over
// costs as many allocations as once. The little that is allowed is far less than one per batch.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "../../apps/fraud-detection/fraud_detection.hpp"
#include "../../apps/spike-detection/spike_detection.hpp"
#include "../../apps/word-count/word_count.hpp"
#include "../support/counting_new.hpp"
#include "../support/folder.hpp"
#include "../support/perturbed.hpp"

namespace strid::apps {
namespace {

constexpr double allocations_per_record_max = 0.001;

const std::filesystem::path folder_of_applications = STRID_APPLICATIONS;

using Build = std::function<void(Graph&, const Endpoints&)>;

struct Counted {
    std::uint64_t records;
    std::uint64_t allocations;
};

Counted run_counted(const Build& build, const std::string& input, const RunOptions& options) {
    const std::uint64_t before = test::allocations.load();
    Graph graph{"counted"};
    build(graph, {.input = input, .output = "/dev/null"});
    const RunReport report = run(graph, options);
    return {report.records_in(), test::allocations.load() - before};
}

/// `input` is a file below the folder of the applications; `times`: how often the longer file
/// repeats what the shorter one has.
void expect_none_per_record(const Build& build, const std::string& input, std::size_t copies,
                            std::size_t times) {
    if (test::perturbed) GTEST_SKIP() << "perturbed";
    std::ifstream file(folder_of_applications / input, std::ios::binary);
    ASSERT_TRUE(file) << input;
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::string once;
    for (std::size_t i = 0; i < copies; ++i) once += text;
    std::string several;
    for (std::size_t i = 0; i < times; ++i) several += once;
    const test::Folder folder;
    const auto short_path = folder.write("short", once);
    const auto long_path = folder.write("long", several);
    for (const auto& options : {RunOptions{.workers = 1}, RunOptions{.workers = 2}}) {
        const Counted few = run_counted(build, short_path, options);
        const Counted many = run_counted(build, long_path, options);
        ASSERT_EQ(many.records, few.records * times);
        const auto more =
            static_cast<double>(many.allocations) - static_cast<double>(few.allocations);
        EXPECT_LE(more,
                  allocations_per_record_max * static_cast<double>(many.records - few.records))
            << options.workers << " workers: " << few.allocations << " allocations for "
            << few.records << " records, " << many.allocations << " for " << many.records;
    }
}

TEST(Allocations, NoneForARecordInSpikeDetection) {
    expect_none_per_record(
        [](Graph& graph, const Endpoints& ends) { spike_detection::build(graph, ends, {}); },
        "spike-detection/data/readings.csv", 2, 8);
}

TEST(Allocations, NoneForARecordInFraudDetection) {
    const auto model = std::make_shared<const fraud_detection::MarkovModel>(
        folder_of_applications / "fraud-detection/data/model.txt");
    expect_none_per_record(
        [&](Graph& graph, const Endpoints& ends) {
            fraud_detection::build(graph, ends, {}, model);
        },
        "fraud-detection/data/transactions.csv", 5, 8);
}

/// Its records are lines, of some hundred words each; the updates are written, one row per word.
TEST(Allocations, NoneForAWordInWordCount) {
    const auto words = [](Graph& graph, const Endpoints& ends) {
        word_count::build(graph, ends, {.emit = Emit::every_update},
                          std::make_shared<word_count::ByteCount>(0));
    };
    constexpr std::size_t copies_of_400_lines = 20;
    expect_none_per_record(words, "word-count/data/opticks.txt", copies_of_400_lines, 4);
}

}  // namespace
}  // namespace strid::apps
