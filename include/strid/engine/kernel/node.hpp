// SPDX-License-Identifier: Apache-2.0
//
// One replica of one fused segment, as its task sees it: an object with an input, an output and a
// `run()` that processes one batch. The typed kernel behind it processes the records
// (engine/kernel/kernel.hpp). The rest is here, compiled once: what surrounds a batch or a poll,
// and by the tables of the operators (engine/kernel/operator_table.hpp) the events that come once
// in a run, and snapshots.
//
// The state of a node is that of its source, those of its stages, and the place in the stream.
//
// Threads: `run` is called by the task that owns the node; any thread may read the counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <strid/base/histogram.hpp>
#include <strid/engine/kernel/input_port.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/poll_budget.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/kernel/split_clock.hpp>
#include <strid/engine/kernel/wait_clock.hpp>
#include <strid/engine/operator/count.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/operator/source.hpp>

namespace strid {
class ColdStores;  // state/cold_store.hpp
}

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

struct OperatorTable;
/// An operator of a node, and the functions of its class.
struct NodeOperator {
    void* object;
    const OperatorTable* table;
};

/// Calls of the stages that come many times in a run, and in which they emit nothing.
enum class StageEvent : std::uint8_t {
    batch_begins = 1,  ///< BatchBegins.
    batch_ends = 2,    ///< BatchEnds.
    flush = 4,         ///< Flush.
    keep_texts = 8     ///< Records that are emitted from now on keep the stages' texts alive.
};

/// The properties of a node that follow from the classes of its operators.
struct NodeTraits {
    bool polls = false;   ///< The first operator is a source.
    bool drains = false;  ///< A source that is polled until it is empty, also behind a stop.
    bool awaits_outside = false;  ///< Threads outside the graph feed or drain it.
    bool may_refuse = false;      ///< Its sink may have no room.
    bool may_hold_back = false;   ///< A stage may forbid to begin a record.
    bool works_apart = false;     ///< Tasks of the first stage, or outside threads, make results.
    bool asks = false;            ///< A stage is called in every run.
    bool forgets_input = false;   ///< No record that it emits refers to texts of its input.
    std::uint8_t hears = 0;       ///< The StageEvents that concern a stage.
};

/// Where a node is in its graph.
struct NodePlace {
    std::vector<std::string> names;  ///< Of its fused operators, first to last.
    std::size_t replica;
    std::size_t parallelism;
};

class Node {
  public:
    Node(const NodePlace& place, const NodeTraits& traits);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node();

    /// Builds the output port, where the chain has one. Called once, before `open`.
    virtual void create_output(const std::vector<OutputPort::SlotShape>& slots,
                               const PortSizes& sizes) = 0;
    /// For an operator of this node: records on which its function throws are dropped. Before
    /// `open`.
    virtual void skip(std::size_t /*operator_index*/) noexcept {}
    /// The operators add their tasks to the run. Called once, before `open`, when the node has its
    /// task.
    void bring_tasks(const RunShape& shape, runtime::Task& task,
                     std::vector<runtime::Task*>& tasks);
    /// Called once before the first run, on the thread that starts the graph. May throw. `stop`
    /// ends a slow open.
    void open(runtime::Task& task, const std::stop_token& stop);
    /// Processes one batch, or one poll of a source. `clock_ns` as in Task::step(). Throws
    /// OperatorError.
    RunResult run(std::int64_t& clock_ns);
    /// The operators whose state has no codec (strid/state/codec.hpp), or that cannot take a part
    /// in a snapshot for another reason: a line for each.
    [[nodiscard]] std::vector<std::string> no_snapshot() const;
    /// The types of the states of the operators, with their layouts, to be compared. `stored`: as
    /// an earlier version of the program would write them that has stored these; or nothing.
    [[nodiscard]] std::vector<std::string> types_of_state(
        const std::vector<std::string>& stored) const;
    /// Of each operator, whether another number of replicas goes on from its state although that is
    /// not by key.
    [[nodiscard]] std::vector<bool> merge_state() const;
    /// Where a part of the state of this operator is that snapshots have as checkpoints; null: it
    /// has none, or is of another node.
    [[nodiscard]] const ColdStores* cold_stores(const std::string& operator_name) const;
    /// Goes on from saved parts, behind open() and before the first run. Throws StateError, also
    /// for a part that is shared and not by key, unless it is equal in all replicas; and what
    /// operators throw.
    void restore(PartsBefore& before);
    /// The same from the state of a node that has ended: it closes its outputs and does no more.
    void restore_as_ended() noexcept;
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
    [[nodiscard]] bool polls() const noexcept { return traits_.polls; }
    /// Gives back the present batch, which a run that failed may have left. Called on every node
    /// before the first is destroyed, because a batch goes home to another node's pool.
    void abandon() noexcept;
    /// When an operator wants a run without a notification, the earliest time; 0 if none does.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept;
    [[nodiscard]] bool needs_own_thread() const noexcept;
    /// Threads outside the graph feed or drain this node (an inlet, an outlet).
    [[nodiscard]] bool awaits_outside() const noexcept { return traits_.awaits_outside; }
    /// The part of its own input that is done, 0 to 1; negative if unknown. 1 for all nodes but
    /// sources. Any thread.
    [[nodiscard]] double fraction_done() const noexcept;
    [[nodiscard]] std::uint64_t bytes_read() const noexcept;

    /// A source ends its stream at the next run, or first drains the records it has taken. Any
    /// thread.
    void request_stop() noexcept {
        stop_requested_.store(true, std::memory_order_relaxed);
        stop_source();
    }
    /// No more batches are processed. Ends waits inside a run, and waits for this node outside the
    /// graph. Any thread, also during a run; maybe several times.
    void interrupt() noexcept {
        if (run_ != nullptr) run_->interrupt();
        stop_source();
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
    // ---- the typed half ------------------------------------------------------------------------

    /// The result of a poll of the source.
    struct Poll {
        SourceStatus status = SourceStatus::finished;
        std::uint64_t emitted = 0;
        std::uint64_t left = 0;  // records that left the last stage
        std::int64_t ingress_ns = 0;
    };
    /// Polls the source for so many records at most.
    virtual Poll poll(std::int64_t start_ns, std::size_t budget) = 0;
    /// Passes the records of the present batch from `position_` on, while there is room.
    virtual void pass_batch(message::BatchHeader& header) = 0;
    /// The sink accepts one more record.
    virtual bool is_ready() = 0;
    /// A stage forbids to begin a record though there is room. A stage that only waits for a time
    /// continues at once when the run was `stopped`.
    [[nodiscard]] virtual bool is_held_back(bool stopped) const = 0;
    /// Passes `progress_` to the stages. True once they have emitted all that it causes.
    virtual bool advance_stages(const Clock& clock) = 0;
    struct Finish {
        bool done;
        bool emitted;
    };
    /// The stages emit the records that they hold, while there is room.
    virtual Finish finish_stages(const Clock& clock) = 0;
    /// Sends the event to each stage that it concerns.
    virtual void notify(StageEvent event) = 0;

    /// Adds the operator, in the order of the stream; by the constructor of a derived class.
    void add(const NodeOperator& one) { operators_.push_back(one); }

    std::vector<std::string> names_;  // of the operators
    InputPort input_;
    std::unique_ptr<OutputPort> output_;
    std::vector<OperatorCounts> counts_;
    SplitClock split_;
    Progress source_progress_;        // by a source that reports its time
    Progress progress_;               // what the stages got last, or are getting
    memory::Block* batch_ = nullptr;  // the present batch
    Link* link_ = nullptr;            // and the link it came from
    std::uint32_t position_ = 0;      // its first record not yet passed

  private:
    template <class Event>
    using Hook = void (*OperatorTable::*)(void*, const Event&);

    // ---- a run ---------------------------------------------------------------------------------
    RunResult run_source(std::int64_t& clock_ns);
    RunResult run_batch(std::int64_t& clock_ns);
    RunResult run_without_input(std::int64_t& clock_ns);
    /// Without records: continues with the output of the last watermark, or calls a stage that
    /// holds back again.
    RunResult run_time(std::int64_t& clock_ns);
    RunResult finish(std::int64_t clock_ns);
    /// The next batch of the input; counts how much waits behind it.
    [[nodiscard]] InputPort::Received receive();
    void begin_batch();
    void end_batch();
    /// Passes the watermark of the input to the stages. If the output has no room for all that they
    /// emit, `advancing_` stays true and the next run continues there.
    void advance(std::int64_t now_ns);
    /// Sends the event where it concerns a stage. The time that this takes is that of operators.
    void notify_operators(StageEvent event);
    [[nodiscard]] bool hears(StageEvent event) const noexcept {
        return (traits_.hears & static_cast<std::uint8_t>(event)) != 0;
    }
    [[nodiscard]] bool publish(bool idle) { return output_ == nullptr || output_->publish(idle); }
    /// One more record may be started: the output has a spare block, or the sink accepts.
    [[nodiscard]] bool has_room() {
        return output_ != nullptr ? output_->spare() : !traits_.may_refuse || is_ready();
    }
    /// The result of a run that finds no input, or no room.
    RunResult wait_for_input(std::int64_t clock_ns) noexcept;
    RunResult wait_for_room(std::int64_t clock_ns) noexcept;
    /// When the work of a poll began: at its start, or later when its first record came, for which
    /// it had waited.
    [[nodiscard]] std::int64_t poll_worked_from(std::int64_t start_ns,
                                                std::int64_t ingress_ns) noexcept;
    /// The run that began at `clock_ns` is over and has processed `records` records. `done`: the
    /// batch, or poll, and all its output are finished.
    void end_run(std::int64_t& clock_ns, std::int64_t ingress_ns, std::uint64_t records,
                 bool done) noexcept;
    [[nodiscard]] bool stop_requested() const noexcept {
        return stop_requested_.load(std::memory_order_relaxed);
    }

    // ---- events that come once, and snapshots --------------------------------------------------
    /// Sends the event to each operator that has the hook.
    template <class Event>
    void notify_all(Hook<Event> hook, const Event& event);
    void notify_closed();
    [[nodiscard]] Context context(std::size_t index) noexcept {
        return {names_[index], replica_, parallelism_, run_, &counters_[index]};
    }
    /// Saves the state, or begins to: all records before the snapshot have passed.
    void begin_snapshot(std::uint64_t number);
    /// Sends the barrier; false while there is no room. Then the stream goes on.
    [[nodiscard]] bool end_snapshot();
    [[nodiscard]] bool has_codecs() const noexcept;
    void restore_operator(std::size_t index, PartBefore& part);
    /// The operator that is polled; null: none.
    [[nodiscard]] const NodeOperator* source() const noexcept {
        return traits_.polls && !operators_.empty() ? &operators_.front() : nullptr;
    }
    /// Once: a second call returns behind the first, since the last thread of a run relies on the
    /// source having been stopped.
    void stop_source() noexcept;
    /// Outside threads that wait for the sink learn that it takes no more records.
    void cut_off_sink() noexcept;

    std::size_t replica_;
    std::size_t parallelism_;
    RunScope* run_ = nullptr;
    bool keeps_sequences_ = false;
    std::vector<CounterSet> counters_;
    Histogram latency_;
    SharedCount busy_ns_;
    SharedCount batches_;
    SharedCount refusals_;
    SharedCount queued_;
    SharedCount queued_max_;
    WaitClock waits_;
    SnapshotCut* cut_ = nullptr;   // null: the run takes no snapshots
    std::size_t place_ = 0;        // among the nodes of the run
    std::uint64_t snapshots_ = 0;  // the number of the last one that it took a part in

    NodeTraits traits_;
    std::vector<NodeOperator> operators_;  // first to last
    PollBudget budget_;                    // of a source
    std::int64_t silent_until_ns_ = 0;     // when the last poll began that found nothing
    bool idle_published_ = true;
    bool advancing_ = false;          // the stages have not yet emitted all that progress_ causes
    bool is_cutting_ = false;         // the barrier of a snapshot is to be sent
    bool ended_ = false;              // no more input follows
    bool restored_as_ended_ = false;  // and has emitted all
    bool stages_closed_ = false;      // on(Closed) was sent
    bool closed_ = false;             // and all output is sent
    std::unique_ptr<NodeState> saving_;  // null: none, or all is saved

    std::atomic<bool> stop_requested_{false};
    std::once_flag source_stopped_;
};

}  // namespace strid::operators
