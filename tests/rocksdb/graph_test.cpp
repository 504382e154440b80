// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose state by key is partly in databases of RocksDB: beside the same graphs with all of
// it in memory, and killed and stopped at random moments, with other numbers of replicas each time.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/connector/csv_writer.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/paced.hpp>
#include <strid/rocksdb/rocksdb.hpp>
#include <strid/strid.hpp>

#include "../support/file_limit.hpp"
#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "../support/stored_graphs.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;
namespace files = std::filesystem;

constexpr rocksdb::StoreOptions small{.buffer_bytes = 256 << 10, .cache_bytes = 256 << 10};

TEST(StoredGraphs, GiveTheRowsOfATableInMemory) {
    const Folder folder;
    graphs_agree(3, [&] { return rocksdb::store(folder.file("states"), small); });
    EXPECT_FALSE(files::exists(folder.file("states")));
}

struct Row {
    std::uint64_t key;
    std::uint64_t count;
    std::uint64_t sum;
};
/// The numbers of a key that came, as a state that grows.
struct History {
    static constexpr FunctionTraits traits{.hears = events<>};
    Row operator()(const std::uint64_t& number) {
        numbers.push_back(number);
        std::uint64_t sum = 0;
        for (const std::uint64_t one : numbers) sum += one;
        return {number % 1'999, numbers.size(), sum};
    }
    auto state() { return std::tie(numbers); }
    std::vector<std::uint64_t> numbers;
};

/// Three seconds of the source: a few runs are stopped before they are over, also where a machine
/// is slow.
constexpr std::uint64_t count = 30'000;

constexpr double rate = 10'000;
constexpr double at_once = 1e9;

/// The name of the folder ends with a slash.
Graph graph_in(const std::string& folder, std::size_t replicas, double per_second = rate) {
    Graph graph{"histories"};
    const auto number = [](Random&, std::uint64_t i) { return i * i; };
    const auto key_of = [](const std::uint64_t& one) { return one % 1'999; };
    graph
        .source(paced(generate(number, {.count = count}), per_second),
                {.name = "numbers", .parallelism = 1})
        .key_by(key_of, keep_in_memory(20'000, rocksdb::store(folder + "states", small)))
        .map(History{}, {.name = "histories", .parallelism = replicas})
        .sink(csv_writer<Row>(folder + "rows.csv"), {.name = "rows", .parallelism = 1});
    return graph;
}

RunOptions options_in(const std::string& folder) {
    RunOptions options;
    options.snapshots = {.folder = folder + "snapshots", .every = 40ms};
    return options;
}

std::vector<std::string> rows_in(const Folder& folder) {
    std::istringstream text(folder.read("rows.csv"));
    std::vector<std::string> rows;
    for (std::string row; std::getline(text, row);) rows.push_back(row);
    std::ranges::sort(rows);
    return rows;
}

std::vector<std::string> undisturbed() {
    const Folder folder;
    (void)run(graph_in(folder.file(""), 2, at_once));
    return rows_in(folder);
}

constexpr const char* folder_variable = "STRID_STORED_GRAPH_FOLDER";
constexpr const char* replicas_variable = "STRID_STORED_GRAPH_REPLICAS";

/// The program that the next test kills: a fork alone would lack the threads of RocksDB.
TEST(StoredGraphs, RunOfAnotherProcess) {
    const char* const folder = std::getenv(folder_variable);
    const char* const replicas = std::getenv(replicas_variable);
    if (folder == nullptr || replicas == nullptr) GTEST_SKIP() << "the next test starts it";
    (void)run(graph_in(folder, std::strtoul(replicas, nullptr, 10)), options_in(folder));
}

/// True: it came to its end.
bool run_and_kill(const Folder& folder, std::size_t replicas, std::chrono::milliseconds after) {
    const auto child = ::fork();
    if (child == 0) {
        ::setenv(folder_variable, folder.file("").c_str(), 1);
        ::setenv(replicas_variable, std::to_string(replicas).c_str(), 1);
        ::execl("/proc/self/exe", "rocksdb_test", "--gtest_filter=StoredGraphs.RunOfAnotherProcess",
                "--gtest_brief=1", nullptr);
        ::_exit(127);
    }
    const auto end = std::chrono::steady_clock::now() + after;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(5ms);
        if (std::chrono::steady_clock::now() < end) continue;
        ::kill(child, SIGKILL);
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        break;
    }
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    return WIFEXITED(status);
}

TEST(StoredGraphs, GoOnBehindKillsWithOtherReplicas) {
    const Folder folder;
    std::mt19937_64 random(first_seed());
    int kills = 0;
    while (!run_and_kill(folder, 1 + random() % 3,
                         std::chrono::milliseconds(kills < 6 ? 100 + random() % 250 : 60'000))) {
        ASSERT_LT(++kills, 8);
    }
    EXPECT_EQ(rows_in(folder), undisturbed());
    // No snapshot needs a checkpoint. The folder was there when the last run began.
    EXPECT_TRUE(files::is_empty(folder.file("states")));
}

void run_and_stop(const Folder& folder, std::size_t replicas) {
    const Graph graph = graph_in(folder.file(""), replicas);
    Running running = start(graph, options_in(folder.file("")));
    std::this_thread::sleep_for(150ms);
    running.stop();
    (void)running.wait();
}

TEST(StoredGraphs, GoOnBehindAStop) {
    const Folder folder;
    for (const std::size_t replicas : {2, 2, 3, 1}) {
        run_and_stop(folder, replicas);
        // The databases are gone, and the checkpoints of two snapshots are there.
        for (const auto& replica : files::directory_iterator(folder.file("states/histories"))) {
            EXPECT_FALSE(files::exists(replica.path() / "live"));
            const auto end = files::directory_iterator{};
            EXPECT_LE(std::distance(files::directory_iterator(replica.path()), end), 5);
        }
    }
    (void)run(graph_in(folder.file(""), 2), options_in(folder.file("")));
    EXPECT_EQ(rows_in(folder), undisturbed());
}

TEST(StoredGraphs, AMissingCheckpointIsAnErrorOfTheStart) {
    const Folder folder;
    run_and_stop(folder, 2);
    files::remove_all(folder.file("states"));
    try {
        (void)run(graph_in(folder.file(""), 2), options_in(folder.file("")));
        FAIL();
    } catch (const StateError& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(testing::HasSubstr("operator 'histories'"),
                                   testing::HasSubstr("in a checkpoint that is not there")));
    }
}

/// Of the checkpoints that a run has left, newest first.
std::vector<files::path> checkpoints_in(const Folder& folder) {
    std::vector<files::path> found;
    for (const auto& entry : files::recursive_directory_iterator(folder.file("states"))) {
        if (entry.path().filename().string().starts_with("00") && entry.is_directory()) {
            found.push_back(entry.path());
        }
    }
    std::ranges::sort(found, std::greater{}, &files::path::filename);
    return found;
}

TEST(StoredGraphs, ADamagedCheckpointIsPassedOverForTheSnapshotBefore) {
    const Folder folder;
    run_and_stop(folder, 2);
    const auto found = checkpoints_in(folder);  // two replicas of two snapshots
    ASSERT_EQ(found.size(), 4U);
    ASSERT_NE(found[0].filename(), found[2].filename());
    files::remove(found[1] / "CURRENT");
    std::vector<std::string> warnings;
    RunOptions options = options_in(folder.file(""));
    options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
    (void)run(graph_in(folder.file(""), 2, at_once), options);
    const std::string snapshot =
        folder.file("snapshots/" + found[1].filename().string() + ".snapshot");
    EXPECT_THAT(warnings, testing::Contains(testing::AllOf(
                              testing::StartsWith(snapshot +
                                                  ": operator 'histories': its states "
                                                  "are in a checkpoint that is "
                                                  "damaged: " +
                                                  found[1].string()),
                              testing::EndsWith("; the snapshot before it is taken"))));
    EXPECT_EQ(rows_in(folder), undisturbed());
}

TEST(StoredGraphs, AFullDiskGivesUpSnapshotsAndNotTheRun) {
    const Folder folder;
    {
        std::mutex mutex;
        std::vector<std::string> warnings;
        RunOptions options = options_in(folder.file(""));
        options.on_warning = [&](const std::string& text) {
            const std::lock_guard lock(mutex);
            warnings.push_back(text);
        };
        Running running = start(graph_in(folder.file(""), 2, rate / 4), options);
        ASSERT_TRUE(running.snapshot());
        {
            const FileLimit limit(900 << 10);  // rows and states are shorter
            for (int i = 0; i != 3; ++i) {
                try {
                    (void)running.snapshot();
                    FAIL();
                } catch (const InputOutputError& error) {
                    EXPECT_THAT(error.what(),
                                testing::AllOf(testing::StartsWith("operator 'histories': " +
                                                                   folder.file("states")),
                                               testing::HasSubstr("there is no room")));
                }
            }
            const std::lock_guard lock(mutex);
            EXPECT_THAT(warnings, testing::Contains(testing::HasSubstr(
                                      "a snapshot could not be stored: operator 'histories': " +
                                      folder.file("states/histories/"))));
        }
        ASSERT_TRUE(running.snapshot());
        running.cancel();
    }
    (void)run(graph_in(folder.file(""), 3, at_once), options_in(folder.file("")));
    EXPECT_EQ(rows_in(folder), undisturbed());
}

TEST(StoredGraphs, AFolderInUseIsAnErrorOfTheStart) {
    const Folder folder;
    const auto other = rocksdb::store(folder.file("states"), small)->open({"histories", 0, 1});
    try {
        (void)run(graph_in(folder.file(""), 1));
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_EQ(std::string(error.what()), "operator 'histories': " + folder.file("states") +
                                                 "/histories/0: another run keeps its states here");
    }
}

}  // namespace
}  // namespace strid::test
