// SPDX-License-Identifier: Apache-2.0
//
// The snapshots of one run: asks its nodes for them, gathers the states, and stores them; before
// the run, gives the nodes the states of the last one.
//
// A thread takes a snapshot every so often. It waits for the states, which the nodes save between
// two records, makes the results last that are written so far, and stores all: the nodes go on
// meanwhile. There is never more than one at a time.
//
// Threads: saved(), ended(), take_now() and take_last() by any thread; the others by that which
// starts the run, and by the last thread of the run, as running.cpp has it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/runtime/task.hpp>
#include <strid/state/snapshot_folder.hpp>
#include <strid/stream/options.hpp>

namespace strid {

class Snapshots final : public operators::SnapshotCut {
  public:
    /// Opens the folder, and reads its newest snapshot. Throws GraphError where nodes can take no
    /// part in a snapshot, and where the folder is another graph's; InputOutputError, StateError.
    Snapshots(const SnapshotOptions& options, std::string graph,
              std::vector<operators::Node*> nodes, std::vector<runtime::Task*> polling,
              RunScope& scope, runtime::Execution& execution);
    ~Snapshots() override { end(); }

    /// Gives the opened nodes their states. Throws OperatorError.
    void restore();
    /// The run has begun.
    void begin();
    /// No further snapshot is begun, and the thread has ended.
    void end() noexcept;

    void saved(std::size_t node, std::vector<std::byte> state) override;
    void ended(std::size_t node) noexcept override;

    /// As Running::snapshot().
    bool take_now();
    /// Takes a last snapshot, behind which the run is cancelled. False where a stop drains.
    bool take_last() noexcept;

    /// No step of the run follows. True if a last snapshot was stored.
    bool run_is_over() noexcept;
    /// All nodes have ended: stores that, so that the results get their names once.
    void store_end();
    /// The results have their names.
    void store_finished();

  private:
    enum class Kind : std::uint8_t { usual, last };

    [[nodiscard]] SnapshotDescription description() const;
    void check_part() const;
    void check_same(const SnapshotDescription& before) const;
    void work();
    bool take(Kind kind, std::unique_lock<std::mutex>& lock);
    void store(bool is_finished);
    void warn(const std::string& text) const;

    SnapshotOptions options_;
    std::string graph_;
    std::vector<operators::Node*> nodes_;
    std::vector<runtime::Task*> polling_;  // those that step sources
    RunScope& scope_;
    runtime::Execution& execution_;
    SnapshotFolder folder_;
    std::optional<Snapshot> before_;  // of an earlier run, until restore()
    std::uint64_t number_ = 0;        // of the last one that was begun

    std::mutex mutex_;
    std::condition_variable changed_;
    // Under mutex_:
    std::vector<std::optional<std::vector<std::byte>>> states_;  // of the present snapshot
    std::vector<bool> ended_;
    std::size_t missing_ = 0;          // states
    std::uint64_t asked_ = 0;          // by take_now()
    std::uint64_t answered_ = 0;       // of these
    std::string fault_;                // of the last one that could not be stored
    bool last_is_asked_ = false;
    bool last_is_stored_ = false;
    bool is_over_ = false;
    bool is_working_ = false;
    std::thread thread_;
};

}  // namespace strid
