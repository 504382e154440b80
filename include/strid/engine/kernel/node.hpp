// SPDX-License-Identifier: Apache-2.0
//
// One replica of one fused segment, as its task sees it: an object with an input, an output and a
// `run()` that processes one batch. The typed kernel behind it processes the records
// (engine/kernel/kernel.hpp).
//
// Threads: `run` is called by the task that owns the node; any thread may read the counters.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/histogram.hpp>
#include <strid/engine/kernel/input_port.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/kernel/split_clock.hpp>
#include <strid/engine/kernel/wait_clock.hpp>
#include <strid/engine/operator/count.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/state/bytes.hpp>

namespace strid::operators {

/// The result of a run of a node.
enum class [[nodiscard]] RunResult : std::uint8_t {
    progressed,  ///< A batch was processed, wholly or in part.
    empty,       ///< Nothing to do: no batch waits, or the source has nothing now.
    refused,     ///< The output has no spare block.
    finished     ///< The stream has ended and the outputs are closed.
};

/// The run, as an operator that brings tasks sees it.
struct RunShape {
    std::size_t workers;
    bool perturbed;
};

/// Counters of one operator within a node.
struct OperatorCounts {
    SharedCount in;
    SharedCount out;
    SharedCount malformed;  ///< Records that a source refused, by the user's policy.
    SharedCount late;       ///< Records that came after all their windows.
    SharedCount skipped;  ///< Records that the operator's function threw on, by the user's policy.
    SharedCount keys;     ///< Number of keys in its state at present.
    SharedCount state_bytes;
};

/// Where a node is in its graph.
struct NodePlace {
    std::vector<std::string> names;  ///< Of its fused operators, first to last.
    std::size_t replica;
    std::size_t parallelism;
};

class Node {
  public:
    explicit Node(const NodePlace& place);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Builds the output port, where the chain has one. Called once, before `open`.
    virtual void create_output(const std::vector<OutputPort::SlotShape>& slots,
                               const PortSizes& sizes) = 0;
    /// For an operator of this node: records on which its function throws are dropped. Before
    /// `open`.
    virtual void skip(std::size_t /*operator_index*/) noexcept {}
    /// The operators add their tasks to the run. Called once, before `open`, when the node has its
    /// task.
    virtual void bring_tasks(const RunShape& /*shape*/, runtime::Task& /*task*/,
                             std::vector<runtime::Task*>& /*tasks*/) {}
    /// Called once before the first run, on the thread that starts the graph. May throw. `stop`
    /// ends a slow open.
    virtual void open(runtime::Task& task, const std::stop_token& stop) = 0;
    /// Processes one batch, or one poll of a source. `clock_ns` as in Task::step(). Throws
    /// OperatorError.
    virtual RunResult run(std::int64_t& clock_ns) = 0;
    /// The operators whose state has no codec (strid/state/codec.hpp), or that cannot take a part
    /// in a snapshot for another reason: a line for each.
    [[nodiscard]] virtual std::vector<std::string> no_snapshot() const { return {}; }
    /// The types of the states of the operators, with their layouts, to be compared. `stored`: as
    /// an earlier version of the program would write them that has stored these; or nothing.
    [[nodiscard]] virtual std::vector<std::string> types_of_state(
        const std::vector<std::string>& /*stored*/) const {
        return {};
    }
    /// Of each operator, whether another number of replicas goes on from its state although that is
    /// not by key.
    [[nodiscard]] virtual std::vector<bool> merge_state() const { return {}; }
    /// Goes on from saved parts, behind open() and before the first run. Throws StateError, also
    /// for a part that is shared and not by key, unless it is equal in all replicas; and what
    /// operators throw.
    virtual void restore(PartsBefore& /*before*/) {}
    /// The same from the state of a node that has ended: it closes its outputs and does no more.
    virtual void restore_as_ended() noexcept {}
    /// Takes a part in the snapshots of the run, as node number `place`. Before the first run.
    void take_part(SnapshotCut& cut, std::size_t place, std::uint64_t snapshots_before) noexcept {
        cut_ = &cut;
        place_ = place;
        snapshots_ = snapshots_before;
    }
    /// Tables of its state are being saved in slices: save_slice() is called between two runs. The
    /// node does not end before.
    [[nodiscard]] bool is_saving() const noexcept { return saving_ != nullptr; }
    /// Saves a slice; behind the last one the snapshot gets the state. Throws what a codec throws.
    void save_slice();
    /// It polls a source.
    [[nodiscard]] virtual bool polls() const noexcept { return false; }
    /// Gives back the present batch, which a run that failed may have left. Called on every node
    /// before the first is destroyed, because a batch goes home to another node's pool.
    virtual void abandon() noexcept = 0;
    /// In a source: when to run again without a notification; 0 if unknown.
    [[nodiscard]] virtual std::int64_t wake_at_ns() const noexcept { return 0; }
    [[nodiscard]] virtual bool needs_own_thread() const noexcept { return false; }
    /// Threads outside the graph feed or drain this node (an inlet, an outlet).
    [[nodiscard]] virtual bool awaits_outside() const noexcept { return false; }
    /// The part of its own input that is done, 0 to 1; negative if unknown. 1 for all nodes but
    /// sources. Any thread.
    [[nodiscard]] virtual double fraction_done() const noexcept { return 1; }
    [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept { return 0; }

    /// A source ends its stream at the next run, or first drains the records it has taken. Any
    /// thread.
    void request_stop() noexcept {
        stop_requested_.store(true, std::memory_order_relaxed);
        stop_source_once();
    }
    /// No more batches are processed. Ends waits inside a run, and waits for this node outside the
    /// graph. Any thread, also during a run; maybe several times.
    void interrupt() noexcept {
        if (run_ != nullptr) run_->interrupt();
        stop_source_once();
        cut_off_sink();
    }

    /// The scope that the run shares with its operators. Before open().
    void join(RunScope& run) noexcept { run_ = &run; }

    [[nodiscard]] InputPort& input() noexcept { return input_; }
    [[nodiscard]] const InputPort& input() const noexcept { return input_; }
    /// Null for a node that ends in a sink.
    [[nodiscard]] OutputPort* output() noexcept { return output_.get(); }
    void keep_sequences() noexcept { keeps_sequences_ = true; }

    [[nodiscard]] const std::vector<std::string>& operator_names() const noexcept { return names_; }
    [[nodiscard]] std::size_t replica() const noexcept { return replica_; }
    [[nodiscard]] std::size_t parallelism() const noexcept { return parallelism_; }
    [[nodiscard]] const std::vector<OperatorCounts>& counts() const noexcept { return counts_; }
    /// The application's own counters, for each operator.
    [[nodiscard]] const std::vector<CounterSet>& counters() const noexcept { return counters_; }
    [[nodiscard]] const Histogram& latency() const noexcept { return latency_; }
    [[nodiscard]] std::uint64_t busy_ns() const noexcept { return busy_ns_.get(); }
    [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.get(); }
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_.get(); }
    [[nodiscard]] const WaitClock& waits() const noexcept { return waits_; }
    /// The latency of sampled batches by origin.
    [[nodiscard]] const SplitClock& split() const noexcept { return split_; }
    /// Sums over all received batches: how many waited behind each in its ring, and how many could
    /// have.
    [[nodiscard]] std::uint64_t queued() const noexcept { return queued_.get(); }
    [[nodiscard]] std::uint64_t queued_max() const noexcept { return queued_max_.get(); }

  protected:
    /// The next batch of the input; counts how much waits behind it.
    [[nodiscard]] InputPort::Received receive() {
        const InputPort::Received received = input_.receive();
        if (received.batch != nullptr) {
            queued_.add(std::min(received.link->queued(), received.link->share()));
            queued_max_.add(received.link->share());
        }
        return received;
    }
    /// The result of a run that finds no input, or no room.
    RunResult wait_for_input(std::int64_t clock_ns) noexcept {
        waits_.begin(WaitClock::For::input, clock_ns);
        return RunResult::empty;
    }
    RunResult wait_for_room(std::int64_t clock_ns) noexcept {
        waits_.begin(WaitClock::For::room, clock_ns);
        return RunResult::refused;
    }
    /// When the work of a poll began: at its start, or later when its first record came, for which
    /// it had waited.
    [[nodiscard]] std::int64_t poll_worked_from(std::int64_t start_ns,
                                                std::int64_t ingress_ns) noexcept {
        if (ingress_ns <= start_ns) [[likely]]
            return start_ns;
        waits_.begin(WaitClock::For::input, start_ns);
        const std::int64_t from_ns = std::min(ingress_ns, now_ns());
        waits_.end(from_ns);
        return from_ns;
    }
    /// The run that began at `clock_ns` is over and has processed `records` records. `done`: the
    /// batch, or poll, and all its output are finished.
    void end_run(std::int64_t& clock_ns, std::int64_t ingress_ns, std::uint64_t records,
                 bool done) noexcept {
        const std::int64_t end_ns = now_ns();
        busy_ns_.add(static_cast<std::uint64_t>(end_ns - clock_ns));
        batches_.add(1);
        split_.end_run(end_ns, ingress_ns, records, done, output_.get());
        if (records != 0 && ingress_ns != message::no_ingress) {
            latency_.record(end_ns - ingress_ns, records);
        }
        clock_ns = end_ns;
    }
    [[nodiscard]] bool stop_requested() const noexcept {
        return stop_requested_.load(std::memory_order_relaxed);
    }
    // The place in the stream is the last part of a state. `progress` is what the stages got last.
    // Compiled once: no kernel has a codec of it.
    /// Saves it, and the first slice.
    void save_place(std::unique_ptr<NodeState> state, const Progress& progress);
    /// Throws StateError.
    void load_place(PartBefore& part, Progress& progress);

    /// Calls the source's `stop`; once.
    virtual void stop_source() noexcept {}
    virtual void cut_off_sink() noexcept {}

    std::vector<std::string> names_;
    std::size_t replica_;
    std::size_t parallelism_;
    RunScope* run_ = nullptr;
    InputPort input_;
    std::unique_ptr<OutputPort> output_;
    bool keeps_sequences_ = false;
    std::vector<OperatorCounts> counts_;
    std::vector<CounterSet> counters_;
    Histogram latency_;
    SharedCount busy_ns_;
    SharedCount batches_;
    SharedCount refusals_;
    SharedCount queued_;
    SharedCount queued_max_;
    WaitClock waits_;
    SplitClock split_;
    SnapshotCut* cut_ = nullptr;   // null: the run takes no snapshots
    std::size_t place_ = 0;        // among the nodes of the run
    std::uint64_t snapshots_ = 0;  // the number of the last one that it took a part in

  private:
    std::unique_ptr<NodeState> saving_;  // null: none, or all is saved
    /// A second call returns after the first: the last thread of a run relies on the source having
    /// been stopped.
    void stop_source_once() noexcept {
        std::call_once(source_stopped_, [this] { stop_source(); });
    }

    std::atomic<bool> stop_requested_{false};
    std::once_flag source_stopped_;
};

}  // namespace strid::operators
