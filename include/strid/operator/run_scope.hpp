// SPDX-License-Identifier: Apache-2.0
//
// Shared by the operators of one run: whether it was cut short, and results that must appear only
// if the whole run has ended well. A run owns its scope, which outlives the operators; any thread
// may call any function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <strid/operator/connections.hpp>
#include <strid/operator/refused_lines.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/checkpoint.hpp>

namespace strid {

/// The scope of one run (Context::run). Threads: any may add a result.
class RunScope {
  public:
    /// A result that is kept back until the whole run has ended well, such as a file that replaces
    /// another.
    class Result {
      public:
        Result() = default;
        Result(const Result&) = delete;
        Result& operator=(const Result&) = delete;
        virtual ~Result() = default;
        /// No operator has failed or still runs. By the last thread of the run, once for each run
        /// that it was added to. If it throws, the run has failed.
        virtual void commit() = 0;
        /// All results are committed, and where the run takes snapshots, its end is stored: no run
        /// goes on from it. Removes what such a run would need. By the thread of commit(); what it
        /// throws becomes a warning.
        virtual void finish() {}
        /// The run failed or was cancelled, and is being destroyed. Not after commit().
        virtual void discard() noexcept = 0;

        // In a run that takes snapshots.
        /// The snapshot of this number begins: its barrier is on its way. By the thread that stores
        /// snapshots, before any operator has SnapshotBegins.
        virtual void snapshot_begins(std::uint64_t /*snapshot*/) noexcept {}
        /// The name by which the next run finds what prepare() wrote; empty: snapshots have
        /// nothing of it.
        [[nodiscard]] virtual std::string name() const { return {}; }
        /// All operators have had SnapshotBegins of this number, or have ended before: makes what
        /// came before it last, also without this process, and writes how to go on behind it. Other
        /// threads may write what comes behind. May throw: there is no such snapshot then.
        virtual void prepare(std::uint64_t /*snapshot*/, StateWriter& /*writer*/) {}
        /// The checkpoint that a store of states has made for the snapshot of this number; nothing:
        /// none. All operators have saved their states. May throw: there is no such snapshot then.
        [[nodiscard]] virtual std::optional<SnapshotCheckpoint> checkpoint(
            std::uint64_t /*snapshot*/) {
            return std::nullopt;
        }
        /// The snapshot of this number, which was prepared, is stored, or will never be. By the
        /// thread that stores snapshots.
        virtual void snapshot_ended(std::uint64_t /*snapshot*/, bool /*is_stored*/) noexcept {}
        /// In place of discard(): another run will go on from a snapshot.
        virtual void suspend() noexcept { discard(); }
    };
    /// The bytes that prepare() wrote, by the names of the results.
    using Prepared = std::map<std::string, std::vector<std::byte>>;

    /// `simulated`: RunOptions::Mode::simulation.
    explicit RunScope(bool simulated = false) noexcept : simulated_(simulated) {}
    RunScope(const RunScope&) = delete;
    RunScope& operator=(const RunScope&) = delete;
    ~RunScope();

    /// The snapshots of earlier runs.
    struct Before {
        std::uint64_t behind = 0;  ///< The run goes on behind this one; 0: from the beginning.
        std::uint64_t last = 0;    ///< The last number that was used; 0: none.
    };
    /// The run takes snapshots, and goes on from one that has these results. Before operators are
    /// opened.
    void go_on_with(Prepared results, Before before) {
        takes_snapshots_ = true;
        before_ = before;
        prepared_ = std::move(results);
        for (const auto& [name, bytes] : prepared_) not_asked_for_.insert(name);
    }
    /// The snapshots of the runs before. When operators are opened.
    [[nodiscard]] const Before& before() const noexcept { return before_; }
    /// The function that request_snapshot() calls. Before operators are opened.
    void on_snapshot_request(std::function<void()> take) { request_ = std::move(take); }
    /// An operator needs a snapshot soon. Any thread.
    void request_snapshot() const {
        if (request_) request_();
    }
    /// It begins anew although there may be snapshots (SnapshotOptions::restart). Before operators
    /// are opened.
    void begin_anew() noexcept { begins_anew_ = true; }
    /// Whether it does: what an earlier run has kept for a snapshot is not read.
    [[nodiscard]] bool begins_anew() const noexcept { return begins_anew_; }
    /// The snapshot of this number begins: tells the results.
    void snapshot_begins(std::uint64_t snapshot);
    /// The snapshot of this number is stored: what lies behind `oldest`, which a run may fall back
    /// to, is not needed any more. 0: behind the one that was stored before.
    void stored(std::uint64_t snapshot, std::uint64_t oldest = 0) {
        if (oldest == 0) oldest = last_stored_ != 0 ? last_stored_ : before_.behind;
        last_stored_ = snapshot;
        oldest_needed_.store(oldest, std::memory_order_release);  // pairs with oldest_needed()
        end_snapshot(snapshot, true);
    }
    /// The snapshot of this number could not be stored.
    void not_stored(std::uint64_t snapshot) { end_snapshot(snapshot, false); }
    /// The number of the oldest snapshot that a run may go on from, if those behind it are damaged;
    /// 0: not known. At SnapshotBegins of a number the one before it is stored, or never will be.
    [[nodiscard]] std::uint64_t oldest_needed() const noexcept {
        return oldest_needed_.load(std::memory_order_acquire);  // pairs with stored()
    }
    /// Where warn() sends its sentences. Before operators are opened.
    void on_warning(std::function<void(const std::string&)> take) { warn_ = std::move(take); }
    /// Sends a sentence to the user: something is wrong, and the run goes on. One at a time.
    void warn(const std::string& text);
    /// A place outside that the run connects to; what becomes of it is warned of.
    [[nodiscard]] std::shared_ptr<Connection> connect_to(const std::string& address) {
        return connections_.add(address, [this](const std::string& text) { warn(text); });
    }
    /// The places so far, in the order in which they were connected to.
    [[nodiscard]] std::vector<ConnectionReport> connections() const {
        return connections_.report();
    }
    /// The last lines that its sources could not read.
    [[nodiscard]] RefusedLines& refused_lines() noexcept { return refused_lines_; }
    /// The same.
    [[nodiscard]] const RefusedLines& refused_lines() const noexcept { return refused_lines_; }
    /// Whether another run may go on from a snapshot of this one.
    [[nodiscard]] bool takes_snapshots() const noexcept { return takes_snapshots_; }
    /// The bytes that prepare() wrote in an earlier run for a result of this name; null: none. By
    /// operators that are being opened, one at a time.
    [[nodiscard]] const std::vector<std::byte>* prepared(const std::string& name) const {
        const auto found = prepared_.find(name);
        if (found == prepared_.end()) return nullptr;
        not_asked_for_.erase(name);
        return &found->second;
    }
    /// The names of those that prepared() was not asked for. When all operators are open.
    [[nodiscard]] const std::set<std::string>& left_over() const noexcept { return not_asked_for_; }
    /// The checkpoints of all stores of states for the snapshot of this number. Throws the first
    /// failure.
    [[nodiscard]] std::vector<SnapshotCheckpoint> checkpoints(std::uint64_t snapshot);
    /// Prepares all results for the snapshot of this number. Throws the first failure.
    [[nodiscard]] Prepared prepare(std::uint64_t snapshot);
    /// Adds a result; one that was added before counts once.
    void add(std::shared_ptr<Result> result);
    /// Commits all results, in the order in which they were added. Continues after a failure, and
    /// then throws the first one.
    void commit();
    /// Behind commit(), and behind the snapshot of the end: finishes them.
    void finish();
    /// The run was cancelled or has failed: ends the waits outside the engine.
    void interrupt() noexcept {
        interrupted_.store(true, std::memory_order_relaxed);
        interruption_.request_stop();
    }
    /// Relaxed: it orders nothing, and waits check it again.
    [[nodiscard]] const std::atomic<bool>& interrupted() const noexcept { return interrupted_; }
    /// The same for threads that sleep: it is requested by interrupt().
    [[nodiscard]] std::stop_token interruption() const noexcept {
        return interruption_.get_token();
    }
    /// One thread makes all steps, in an order that a seed gives: what an operator would do on
    /// threads of its own is done in the step.
    [[nodiscard]] bool simulated() const noexcept { return simulated_; }

  private:
    [[nodiscard]] std::vector<std::shared_ptr<Result>> results();
    void end_snapshot(std::uint64_t snapshot, bool is_stored);

    std::mutex mutex_;
    std::vector<std::shared_ptr<Result>> results_;    // under mutex_
    std::vector<std::shared_ptr<Result>> committed_;  // by the last thread of the run
    std::atomic<bool> interrupted_{false};
    std::stop_source interruption_;
    bool simulated_;
    bool takes_snapshots_ = false;
    bool begins_anew_ = false;
    Before before_;
    std::function<void()> request_;
    std::uint64_t last_stored_ = 0;  // by the thread that stores snapshots
    std::atomic<std::uint64_t> oldest_needed_{0};
    std::mutex warning_;
    std::function<void(const std::string&)> warn_;
    Connections connections_;
    RefusedLines refused_lines_;
    Prepared prepared_;  // by an earlier run
    mutable std::set<std::string> not_asked_for_;
};

}  // namespace strid
