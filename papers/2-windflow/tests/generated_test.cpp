// SPDX-License-Identifier: Apache-2.0
//
// Applications over records that they make themselves: the same records are written to a file, and
// the oracle is asked about that file.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "papers/2-windflow/fraud-detection/fraud_detection.hpp"
#include "papers/2-windflow/fraud-detection/transaction_generator.hpp"
#include "papers/2-windflow/spike-detection/reading_generator.hpp"
#include "papers/2-windflow/spike-detection/spike_detection.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/opened.hpp"

namespace strid::apps {
namespace {

constexpr std::uint64_t count = 20'000;
const std::filesystem::path applications = STRID_APPLICATIONS;

/// Writes each record as a row.
template <class T>
struct Rows {
    bool operator()(const T& record) {
        file << row(record) << '\n';
        ++written;
        return true;
    }
    void keep_alive(const memory::TextReference&) {}
    void ingress_at(std::int64_t) {}
    void count_malformed(std::uint64_t) {}

    std::ofstream& file;
    std::function<std::string(const T&)> row;
    std::uint64_t written = 0;
};

template <class Source>
void write_records(Source source, const std::string& path,
                   std::function<std::string(const typename Source::record_type&)> row) {
    std::ofstream file(path);
    Rows<typename Source::record_type> rows{file, std::move(row)};
    test::open(source);
    while (source.poll(rows, 1'000) != SourceStatus::finished) {
    }
    ASSERT_EQ(rows.written, count);
}

bool shell(const std::string& command) {
    return std::system(command.c_str()) == 0;
}

const std::vector<RunOptions> ways = {{.workers = 1},
                                      {.workers = 2, .parallelism = 3},
                                      {.mode = RunOptions::Mode::dedicated, .parallelism = 2},
                                      {.mode = RunOptions::Mode::simulation, .parallelism = 2}};

/// `build(graph, ends)` describes the application; `expected` are the oracle's rows, not few.
template <class Build>
void expect_same(const test::Folder& folder, const std::string& expected, Endpoints ends,
                 const Build& build) {
    ends.output = folder.file("out.csv");
    for (RunOptions options : ways) {
        Graph graph{"generated"};
        build(graph, ends);
        EXPECT_EQ(run(graph, options).records_in(), count);
        EXPECT_TRUE(shell(fmt::format("python3 {}/../compare.py {} {} --key-order 1", STRID_FLIGHTS,
                                      expected, ends.output)));
    }
}

TEST(Generated, ReadingsGiveTheOraclesSpikes) {
    const test::Folder folder;
    for (const std::uint64_t seed : {1U, 77U}) {
        const std::string records = folder.file("records.csv");
        write_records(spike_detection::generate_readings(count, seed), records,
                      [](const auto& reading) {
                          return fmt::format("{},{}", reading.device, reading.value);
                      });
        const std::string expected = folder.file("expected.csv");
        ASSERT_TRUE(shell(fmt::format("python3 {}/spike-detection/oracle.py {} > {}",
                                      applications.string(), records, expected)));
        // One reading in a thousand is far off, and few of the others are.
        EXPECT_GT(std::filesystem::file_size(expected), 30U * 5);
        EXPECT_LT(std::filesystem::file_size(expected), 70U * 50);
        expect_same(
            folder, expected, {.generate = count, .seed = seed},
            [](Graph& graph, const Endpoints& ends) { spike_detection::build(graph, ends, {}); });
    }
}

TEST(Generated, TransactionsGiveTheOraclesOutliers) {
    using namespace fraud_detection;
    const std::string model_path = applications / "fraud-detection/data/model.txt";
    const auto model = std::make_shared<const MarkovModel>(model_path);
    const test::Folder folder;
    const std::string records = folder.file("records.csv");
    write_records(TransactionGenerator(count, 5, model), records, [&](const Transaction& one) {
        return fmt::format("{},{},{}", one.account, one.transaction, model->name(one.state));
    });
    const std::string expected = folder.file("expected.csv");
    ASSERT_TRUE(shell(fmt::format("python3 {}/fraud-detection/oracle.py {} --model {} > {}",
                                  applications.string(), records, model_path, expected)));
    EXPECT_GT(std::filesystem::file_size(expected), 100U);
    const auto build_it = [&](Graph& graph, const Endpoints& ends) {
        build(graph, ends, {}, model);
    };
    expect_same(folder, expected, {.generate = count, .seed = 5}, build_it);
    // At a rate the records are the same.
    expect_same(folder, expected, {.rate_per_second = 1e6, .generate = count, .seed = 5}, build_it);
}

/// How often one state follows another is what the model says, but for the strays.
TEST(Generated, TransactionsFollowTheModel) {
    using namespace fraud_detection;
    const auto model =
        std::make_shared<const MarkovModel>(applications / "fraud-detection/data/model.txt");
    struct Counts {
        bool operator()(const Transaction& one) {
            const auto [at, is_first] = last.try_emplace(std::string(one.account), one.state);
            if (!is_first) ++followed[at->second][one.state];
            at->second = one.state;
            return true;
        }
        void keep_alive(const memory::TextReference&) {}

        std::map<std::string, MarkovModel::State> last = {};
        std::array<std::array<double, 32>, 32> followed{};
    } counts;
    TransactionGenerator generator(2'000'000, 3, model);
    test::open(generator);
    while (generator.poll(counts, 1'000) != SourceStatus::finished) {
    }
    ASSERT_EQ(counts.last.size(), TransactionGenerator::accounts);
    const std::size_t states = model->states();
    constexpr double strays = 1.0 / TransactionGenerator::records_per_stray;
    for (std::size_t before = 0; before < states; ++before) {
        double all = 0;
        for (std::size_t came = 0; came < states; ++came) all += counts.followed[before][came];
        ASSERT_GT(all, 1'000);
        for (std::size_t came = 0; came < states; ++came) {
            const double modelled = model->probability(static_cast<MarkovModel::State>(before),
                                                       static_cast<MarkovModel::State>(came));
            EXPECT_NEAR(counts.followed[before][came] / all,
                        modelled * (1 - strays) + strays / static_cast<double>(states), 0.03);
        }
    }
}

}  // namespace
}  // namespace strid::apps
