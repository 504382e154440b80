// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of a table by key of which a part has changed since the snapshot before: the bytes of
// the state and of the file, the processor time of the node that saves its slices, the time until
// the file is on the disk, and that of reading the chain; beside a whole snapshot. Every state that
// is read is compared with the counts of a plain array.
//
//   changes_bench --folder changes_bench_state --keys 10000000 --per-mille 10,100
//
// The folder must be on a disk: it is made, and removed at the end.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <time.h>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Account {  // 92 bytes, with its key 100
    std::uint32_t updates = 0;
    std::array<std::uint64_t, 11> sums{};
    auto state() { return std::tie(updates, sums); }
};
using Table = KeyedState<std::uint64_t, Account, KeyLife{.in_slices = true}>;

double seconds_of(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class Bench {
  public:
    Bench(std::string path, std::uint64_t keys) : folder_(std::move(path)), counts_(keys) {
        for (std::uint64_t key = 0; key != keys; ++key) update(key);
    }

    /// Updates so many keys, of which none twice in a row, and stores a snapshot.
    void snapshot(std::uint64_t changed, operators::Saves saves) {
        for (std::uint64_t i = 0; i != changed; ++i) {
            update((begin_ + i * 7919) % counts_.size());  // far from each other
        }
        begin_ += changed * 7919;
        const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        operators::NodeState node(saves);
        node.save(operators::states_by_key(table_, [] { return Account{}; }));
        node.end_part();
        node.end_part();  // that of the input
        std::uint64_t slices = 1;
        for (; !node.save_slice({}); ++slices) {
        }
        operators::SavedNode saved = node.take();
        const double saved_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
        Snapshot snapshot;
        snapshot.description.number = ++number_;
        if (saved.tables.front().has_changes_only) snapshot.description.builds_on = number_ - 1;
        snapshot.description.nodes.push_back({.operators = {"accounts"},
                                              .types = {"Account"},
                                              .operator_bytes = std::move(saved.operator_bytes),
                                              .tables = std::move(saved.tables)});
        snapshot.states.push_back(std::move(saved.bytes));
        const double stored_at = seconds_of(CLOCK_MONOTONIC);
        folder_.store(snapshot);
        std::printf(
            "row | %llu of %zu keys | %s | bytes of state %zu, of the file %llu | "
            "%llu slices, %.4f s of the processor | stored in %.3f s |\n",
            static_cast<unsigned long long>(changed), counts_.size(),
            snapshot.description.builds_on != 0 ? "changes" : "whole",
            snapshot.states.front().size(),
            static_cast<unsigned long long>(folder_.file_bytes(number_)),
            static_cast<unsigned long long>(slices), saved_s,
            seconds_of(CLOCK_MONOTONIC) - stored_at);
        file_bytes_ = folder_.file_bytes(number_);
    }
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

    /// A process that starts.
    void check() const {
        const double begin = seconds_of(CLOCK_MONOTONIC);
        Snapshot snapshot = folder_.read(number_);
        Table fresh;
        const auto parts = operators::parts_of_state(
            snapshot.states.front(), snapshot.description.nodes.front().operator_bytes);
        StateReader reader(parts.front());
        auto part = operators::states_by_key(fresh, [] { return Account{}; });
        part.load(reader);
        reader.expect_end();
        std::printf("row | %zu files are read and loaded | %.2f s |\n",
                    folder_.chain_of(number_).size(), seconds_of(CLOCK_MONOTONIC) - begin);
        if (fresh.keys() != counts_.size()) throw std::runtime_error("keys are missing");
        for (const auto& entry : fresh) {
            if (entry.state.updates == counts_[entry.key]) continue;
            throw std::runtime_error("a state is not that of the snapshot");
        }
    }

  private:
    void update(std::uint64_t key) {
        Account& account = table_.find_or_make(key, hash_of(key), [] { return Account{}; }).state;
        ++account.updates;
        for (std::uint64_t& sum : account.sums) sum += hash_of(account.updates + key) % 1'000'000;
        ++counts_[key];
    }

    SnapshotFolder folder_;
    Table table_;
    std::vector<std::uint32_t> counts_;
    std::uint64_t begin_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t file_bytes_ = 0;
};

void measure(const std::string& path, std::uint64_t keys, const std::vector<std::size_t>& parts) {
    Bench bench(path, keys);
    bench.snapshot(0, operators::Saves::all);
    const auto whole = static_cast<double>(bench.file_bytes());
    bench.check();
    for (const std::size_t per_mille : parts) {
        bench.snapshot(keys / 1'000 * per_mille, operators::Saves::changes);
        print_bar("snapshots: file of changes of " + std::to_string(per_mille) +
                      " keys in 1,000, of that of all",
                  static_cast<double>(bench.file_bytes()) / whole, Bar::at_most,
                  1.5 * static_cast<double>(per_mille) / 1'000);
    }
    bench.check();
}

}  // namespace

int main(int argc, char** argv) {
    std::string path = "changes_bench_state";
    std::uint64_t keys = 10'000'000;
    std::vector<std::size_t> parts{10, 10, 100};
    try {
        CommandLine({{"--folder", text_into(path)},
                     {"--keys", number_into(keys)},
                     {"--per-mille", numbers_into(parts)}})
            .read(argc, argv);
        measure(path, keys, parts);
        std::filesystem::remove_all(path);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "changes_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
