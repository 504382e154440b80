// SPDX-License-Identifier: Apache-2.0
//
// The snapshots of one run: asks its nodes for them, gathers the states, and stores them; before
// the run, gives the nodes the states of the last one.
//
// A task of the run takes a snapshot every so often, on a thread of its own. When the last node has
// saved its state, between two records, the task makes the results last that were written so far,
// and stores all; the nodes go on meanwhile. There is never more than one at a time. In the
// simulation the task is stepped as any other is.
//
// Threads: saved(), ended(), take_now() and take_last() by any; step() by that of the task; the
// others by the one that starts the run, and by the last one of the run (running.cpp).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/runtime/task.hpp>
#include <strid/state/snapshot_folder.hpp>
#include <strid/stream/options.hpp>

#include "states_before.hpp"

namespace strid {

/// The replicas of some operators.
struct SnapshotSection {
    std::vector<operators::Node*> nodes;
    bool is_by_key = false;  ///< All that arrives is dealt out by its key.
    /// Of each operator, whether it has a name of its own.
    std::vector<bool> are_named = {};
    std::vector<Producer> producers = {};
};

class Snapshots final : public operators::SnapshotCut, public runtime::Task {
  public:
    /// Opens the store, and reads its newest snapshot. Throws GraphError where nodes can take no
    /// part in a snapshot, and where the store is another graph's; InputOutputError, StateError.
    Snapshots(const SnapshotOptions& options, std::string graph,
              std::vector<SnapshotSection> sections, std::vector<runtime::Task*> polling,
              RunScope& scope);

    Snapshots(const Snapshots&) = delete;
    Snapshots& operator=(const Snapshots&) = delete;
    ~Snapshots() override;

    /// Gives the opened nodes their states. Throws OperatorError, and GraphError for a result of
    /// the snapshot that none of them writes.
    void restore();
    /// The run is about to begin.
    void begin(runtime::Execution& execution);

    runtime::StepResult step(std::int64_t& clock_ns) override;
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept override { return due_ns_; }
    [[nodiscard]] bool needs_own_thread() const noexcept override { return true; }

    void saved(std::size_t node, operators::SavedNode state) override;
    void ended(std::size_t node) noexcept override;
    [[nodiscard]] operators::SliceSize slice_size() const noexcept override;

    /// As Running::snapshot().
    bool take_now();
    /// Ends the requests for snapshots; one that waits is answered that there is none. Before the
    /// execution is destroyed.
    void end_requests();
    /// Takes a last snapshot, behind which the run is cancelled. False where a stop drains.
    bool take_last() noexcept;

    /// No step of the run follows. True if a last snapshot was stored.
    bool run_is_over() noexcept;
    /// All nodes have ended: stores that, so that the results get their names once.
    void store_end();
    /// The results have their names.
    void store_finished();

  private:
    using Lock = std::unique_lock<std::mutex>;

    [[nodiscard]] SnapshotDescription description() const;
    void check_part() const;
    [[nodiscard]] std::string fault_of(const SnapshotDescription& found) const;
    void find_before();
    void warn_of_names() const;
    void check_results() const;
    void restore_section(std::size_t section);
    void begin_snapshot();
    [[nodiscard]] Snapshot gathered();
    void complete_snapshot(Lock& lock);
    void store(bool is_finished);
    void warn(const std::string& text) const;

    SnapshotOptions options_;
    std::string graph_;
    std::vector<SnapshotSection> sections_;
    std::vector<operators::Node*> nodes_;  // of all sections
    std::vector<runtime::Task*> polling_;  // those that step sources
    RunScope& scope_;
    runtime::Execution* execution_ = nullptr;
    std::shared_ptr<SnapshotFolder> folder_;  // null: a store of the program's own
    std::shared_ptr<SnapshotStore> store_;
    std::optional<StatesBefore> before_;  // of an earlier run, until restore()
    std::uint64_t number_ = 0;            // of the last one that was begun
    std::uint64_t stored_ = 0;            // of the last one of this run that was stored
    std::uint64_t builds_on_ = 0;         // the present one; 0: it is whole
    std::int64_t begun_ns_ = 0;           // and when that was
    std::int64_t due_ns_ = 0;             // when the next one is to be begun

    std::mutex mutex_;
    std::condition_variable changed_;
    // Under mutex_:
    std::vector<std::optional<operators::SavedNode>> states_;  // of the present snapshot
    std::vector<bool> ended_;
    std::size_t running_ = 0;     // nodes that have not ended
    std::size_t missing_ = 0;     // states
    bool is_taking_ = false;      // a snapshot
    std::uint64_t asked_ = 0;     // by take_now()
    std::uint64_t taken_up_ = 0;  // of these, by the present snapshot
    std::uint64_t answered_ = 0;  // of these
    std::string fault_;           // of the last one that could not be stored
    bool last_is_asked_ = false;
    bool is_last_ = false;  // the present one
    bool last_is_stored_ = false;
    bool is_over_ = false;

    std::unique_ptr<SnapshotRequests> requests_;  // whose thread uses the above
};

}  // namespace strid
