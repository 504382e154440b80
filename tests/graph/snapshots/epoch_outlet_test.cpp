// SPDX-License-Identifier: Apache-2.0
//
// Outlets by epoch: each record is popped at least once, whatever ends the runs, and a reader that
// keeps epochs or numbers has the effect of each once. Processes that are killed are in
// tests/snapshots.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/generate.hpp>
#include <strid/state/snapshot_folder.hpp>
#include <strid/strid.hpp>

#include "../../support/folder.hpp"
#include "../../support/seeds.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

struct Process {
    EpochOutlet<std::string> outlet;
    Running running;
};

Process begin(const Folder& folder, EpochOutletOptions epochs, std::uint64_t count,
              std::chrono::nanoseconds every, double rate = 0) {
    Graph graph("outlets");
    auto outlet = graph
                      .source(generate([](Random&, std::uint64_t i) { return i; },
                                       {.count = count, .rate_per_second = rate}),
                              {.name = "numbers"})
                      .map([](std::uint64_t number) { return std::to_string(number); })
                      .epoch_outlet(epochs, {.name = "out"});
    return {std::move(outlet),
            start(graph, {.snapshots = {.folder = folder.file("state"), .every = every}})};
}

TEST(EpochOutlets, CommittedRecordsComeWhenTheirSnapshotIsStored) {
    const Folder folder;
    // The first snapshot is taken at the start; the next one is due in an hour.
    auto process = begin(folder, {.committed = true}, 200, 1h, 100);
    std::this_thread::sleep_for(50ms);
    std::uint64_t next = 0;
    std::uint64_t first_epoch = 0;
    const auto check = [&](const OfEpoch<std::string>& one) {
        EXPECT_EQ(one.number, next);
        EXPECT_EQ(one.record, std::to_string(next++));
    };
    while (const auto one = process.outlet.try_pop()) {
        check(*one);
        if (first_epoch == 0) first_epoch = one->epoch;
        EXPECT_EQ(one->epoch, first_epoch) << "a record whose snapshot is not stored";
    }
    ASSERT_TRUE(process.running.snapshot());
    const auto second = process.outlet.pop();
    ASSERT_TRUE(second.has_value());
    check(*second);
    EXPECT_GT(second->epoch, first_epoch);
    process.running.stop();  // at a last snapshot, whose records come
    process.running.wait();
    while (const auto one = process.outlet.pop()) check(*one);
    EXPECT_GT(next, 1U);
}

TEST(EpochOutlets, AnOutletThatIsFullTakesASnapshotAtOnce) {
    const Folder folder;
    // No snapshot is due for an hour, and many more records come than the outlet holds.
    auto process =
        begin(folder, {.committed = true, .capacity_records = 100}, 200'000, 1h, 500'000);
    std::uint64_t next = 0;
    std::uint64_t epochs = 0;
    std::uint64_t last = 0;
    while (const auto one = process.outlet.pop()) {
        ASSERT_EQ(one->number, next++);
        if (one->epoch != std::exchange(last, one->epoch)) ++epochs;
    }
    EXPECT_EQ(next, 200'000U);
    EXPECT_GT(epochs, 2U);
    process.running.wait();
}

/// Pops until a run is cancelled, as often as it takes. The effects are those that stand.
void check_runs(std::uint64_t seed, bool committed) {
    const Folder folder;
    std::mt19937_64 random(seed);
    constexpr std::uint64_t count = 20'000;  // more than the runs that are cut off can pop
    std::vector<std::pair<std::uint64_t, std::string>> effects;  // epoch and record
    for (int runs = 0;; ++runs) {
        ASSERT_LT(runs, 10'000) << "seed " << seed;
        auto process = begin(folder, {.committed = committed, .capacity_records = 40}, count,
                             std::chrono::microseconds(300 + random() % 3'000), 100'000);
        if (!committed) {
            const std::uint64_t behind = process.outlet.goes_on_behind();
            while (!effects.empty() && effects.back().first > behind) effects.pop_back();
        }
        const std::uint64_t limit = runs < 12 ? random() % 600 : 2 * count;
        std::uint64_t popped = 0;
        std::optional<OfEpoch<std::string>> one;
        while (popped++ < limit && (one = process.outlet.pop())) {
            // Its effect is lost with the process if it was popped last.
            if (popped == limit && runs < 12 && random() % 2 == 0) break;
            if (one->number < effects.size()) {
                if (committed) {
                    ASSERT_EQ(one->epoch, effects[one->number].first) << "seed " << seed;
                }
                continue;
            }
            ASSERT_EQ(one->number, effects.size()) << "seed " << seed << ": records are lost";
            ASSERT_EQ(one->record, std::to_string(one->number));
            effects.emplace_back(one->epoch, one->record);
        }
        if (runs >= 12 && !one) {
            process.running.wait();
            break;
        }
        process.running.cancel();
        try {
            (void)process.running.wait();
        } catch (const Error&) {
        }
    }
    ASSERT_EQ(effects.size(), count) << "seed " << seed;
}

TEST(EpochOutlets, RunsThatAreCancelledAnywhereLoseNothing) {
    for (const std::uint64_t seed : seeds(4)) {
        check_runs(seed, true);
        check_runs(seed, false);
    }
}

/// A folder on a disk that is full for a while.
struct FullDisk final : SnapshotStore {
    explicit FullDisk(const std::string& path) : folder(path) {}
    [[nodiscard]] std::vector<std::uint64_t> numbers() const override { return folder.numbers(); }
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& warn,
                                                 const SnapshotFault& fault_of) const override {
        return folder.newest(warn, fault_of);
    }
    void store(const Snapshot& snapshot) override {
        ++tries;
        if (is_full) throw InputOutputError("no room");
        folder.store(snapshot);
    }
    SnapshotFolder folder;
    std::atomic<int> tries{0};
    std::atomic<bool> is_full{true};
};

TEST(EpochOutlets, ACommittedOneWaitsWhereTheDiskIsFull) {
    const Folder folder;
    const auto disk = std::make_shared<FullDisk>(folder.file("state"));
    std::atomic<std::uint64_t> made{0};
    Graph graph("outlets");
    auto outlet =
        graph.source(generate([](Random&, std::uint64_t i) { return i; }), {.name = "numbers"})
            .map([&made](std::uint64_t number) {
                ++made;
                return number;
            })
            .epoch_outlet({.committed = true, .capacity_records = 10}, {.name = "out"});
    RunOptions options;
    options.snapshots = {.every = 1h};
    options.snapshots.store = disk;
    options.on_warning = [](const std::string&) {};
    auto running = start(graph, options);
    std::this_thread::sleep_for(200ms);
    const std::uint64_t before = made;
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(made, before) << "records for which there is no room";
    EXPECT_LE(disk->tries, 2);
    disk->is_full = false;
    ASSERT_TRUE(running.snapshot());
    for (std::uint64_t i = 0; i != before + 1'000; ++i) {
        const auto one = outlet.pop();
        ASSERT_TRUE(one.has_value());
        ASSERT_EQ(one->record, i);
    }
    running.cancel();
}

TEST(EpochOutlets, OneWithoutRoomHoldsARecord) {
    const Folder folder;
    auto process = begin(folder, {.capacity_records = 0}, 50, 1h);
    std::uint64_t next = 0;
    while (const auto one = process.outlet.pop()) {
        EXPECT_EQ(one->number, next++);
        EXPECT_LE(one->epoch, 2U) << "a snapshot for each record";
        std::this_thread::sleep_for(2ms);
    }
    EXPECT_EQ(next, 50U);
    process.running.wait();
}

TEST(EpochOutlets, RunsWithoutSnapshotsAndSecondRunsAreRefused) {
    Graph graph("outlets");
    auto outlet = graph.source(generate([](Random&, std::uint64_t i) { return i; }, {.count = 3}))
                      .epoch_outlet({}, {.name = "out"});
    EXPECT_THROW((void)run(graph), OperatorError);
    const Folder folder;
    const RunOptions options{.snapshots = {.folder = folder.file("state"), .every = 1h}};
    Graph other("outlets");
    auto popped = other.source(generate([](Random&, std::uint64_t i) { return i; }, {.count = 3}))
                      .epoch_outlet({}, {.name = "out"});
    (void)run(other, options);
    RunOptions again = options;
    again.snapshots.restart = true;
    EXPECT_THROW((void)run(other, again), OperatorError);
}

}  // namespace
}  // namespace strid::test
