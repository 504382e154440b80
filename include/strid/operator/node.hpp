// SPDX-License-Identifier: Apache-2.0
//
// One replica of one fused segment, as the tasks see it: something with an input, an output and a
// `run()` that handles one batch. What happens to the records is the business of the typed kernel
// behind it (operator/kernel.hpp).
//
// Threads: `run` is called by the task that owns the node; the counters may be read by anybody.
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
#include <strid/operator/context.hpp>
#include <strid/operator/count.hpp>
#include <strid/operator/input_port.hpp>
#include <strid/operator/output_port.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/operator/split_clock.hpp>
#include <strid/operator/wait_clock.hpp>

namespace strid::operators {

/// What a run of a node came to.
enum class [[nodiscard]] RunResult : std::uint8_t {
    progressed,  ///< A batch was handled, wholly or in part.
    empty,       ///< Nothing to do: no batch waits, or the source has nothing now.
    refused,     ///< The output has no spare block.
    finished     ///< The stream has ended and the outputs are closed.
};

/// What an operator that brings tasks to a run is told of it.
struct RunShape {
    std::size_t workers;
    bool perturbed;
};

/// Counters of one operator within a node.
struct OperatorCounts {
    Count in;
    Count out;
    Count malformed;  ///< Records that a source refused, by the user's policy.
    Count late;       ///< Records that came after all their windows.
    Count skipped;    ///< Records that the operator's function threw on, by the user's policy.
    Count keys;       ///< That its state has at present.
    Count state_bytes;
};

class Node {
  public:
    /// `operator_names` are the fused operators of this node, first to last.
    Node(std::vector<std::string> operator_names, std::size_t replica, std::size_t parallelism);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Builds the output port, where the chain has one. Called once, before `open`.
    virtual void create_output(const std::vector<OutputPort::SlotShape>& slots,
                               const PortSizes& sizes) = 0;
    /// Of an operator of this node: records that its function throws on are left out. Before
    /// `open`.
    virtual void skip(std::size_t /*operator_index*/) noexcept {}
    /// The operators add the tasks that they bring to the run. Called once, before `open`, where
    /// the node has its task.
    virtual void bring_tasks(const RunShape& /*shape*/, runtime::Task& /*task*/,
                             std::vector<runtime::Task*>& /*tasks*/) {}
    /// Called once before the first run, on the thread that starts the graph. May throw. `stop`
    /// ends what takes long.
    virtual void open(runtime::Task& task, const std::stop_token& stop) = 0;
    /// Handles one batch, or one poll of a source. `clock_ns` as in Task::step(). Throws
    /// OperatorError.
    virtual RunResult run(std::int64_t& clock_ns) = 0;
    /// Gives back the batch at hand, which a run that did not end well may have left. Called on
    /// every node before the first is destroyed, because a batch goes home to another node's pool.
    virtual void abandon() noexcept = 0;
    /// Of a source: when to run again though nobody notifies; 0 where unknown.
    [[nodiscard]] virtual std::int64_t wake_at_ns() const noexcept { return 0; }
    [[nodiscard]] virtual bool needs_own_thread() const noexcept { return false; }
    /// Somebody outside the graph feeds or drains this node (an inlet, an outlet).
    [[nodiscard]] virtual bool awaits_outside() const noexcept { return false; }
    /// What part of its own input is done, 0 to 1; negative where unknown. 1 for all but sources,
    /// which have none. Any thread.
    [[nodiscard]] virtual double fraction_done() const noexcept { return 1; }
    [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept { return 0; }

    /// A source ends its stream at the next run, or drains first what it took. Any thread.
    void request_stop() noexcept {
        stop_requested_.store(true, std::memory_order_relaxed);
        tell_source();
    }
    /// Nothing is handled any more: what blocks inside a run ends, and what waits for this node
    /// outside the graph. Any thread, also while a run is on; maybe several times.
    void interrupt() noexcept {
        if (run_ != nullptr) run_->interrupt();
        tell_source();
        cut_off_sink();
    }

    /// What the run shares with its operators. Before open().
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
    /// Of each operator, the application's own.
    [[nodiscard]] const std::vector<CounterSet>& counters() const noexcept { return counters_; }
    [[nodiscard]] const Histogram& latency() const noexcept { return latency_; }
    [[nodiscard]] std::uint64_t busy_ns() const noexcept { return busy_ns_.get(); }
    [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.get(); }
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_.get(); }
    [[nodiscard]] const WaitClock& waits() const noexcept { return waits_; }
    /// Where the time of sampled batches went.
    [[nodiscard]] const SplitClock& split() const noexcept { return split_; }
    /// Over all batches that were received: how many waited behind each in its ring, of how many
    /// that could.
    [[nodiscard]] std::uint64_t queued() const noexcept { return queued_.get(); }
    [[nodiscard]] std::uint64_t queued_max() const noexcept { return queued_max_.get(); }

  protected:
    /// The next batch of the input, and how much waits behind it is counted.
    [[nodiscard]] InputPort::Received receive() {
        const InputPort::Received received = input_.receive();
        if (received.batch != nullptr) {
            queued_.add(std::min(received.link->queued(), received.link->share()));
            queued_max_.add(received.link->share());
        }
        return received;
    }
    /// What a run comes to that finds nothing, or no room.
    RunResult wait_for_input(std::int64_t clock_ns) noexcept {
        waits_.begin(WaitClock::For::input, clock_ns);
        return RunResult::empty;
    }
    RunResult wait_for_room(std::int64_t clock_ns) noexcept {
        waits_.begin(WaitClock::For::room, clock_ns);
        return RunResult::refused;
    }
    /// The run that began at `clock_ns` is over; it has handled so many records. `done`: and is
    /// through with the batch, or poll, and what that set off.
    void end_run(std::int64_t& clock_ns, std::int64_t born_ns, std::uint64_t records,
                 bool done) noexcept {
        const std::int64_t end_ns = now_ns();
        busy_ns_.add(static_cast<std::uint64_t>(end_ns - clock_ns));
        batches_.add(1);
        split_.end_run(end_ns, born_ns, records, done, output_.get());
        if (records != 0 && born_ns != message::never_born) {
            latency_.record(end_ns - born_ns, records);
        }
        clock_ns = end_ns;
    }
    [[nodiscard]] bool stop_requested() const noexcept {
        return stop_requested_.load(std::memory_order_relaxed);
    }
    /// Calls what the source has for it; once.
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
    Count busy_ns_;
    Count batches_;
    Count refusals_;
    Count queued_;
    Count queued_max_;
    WaitClock waits_;
    SplitClock split_;

  private:
    /// A second call returns when the first is through: the last thread of a run relies on it that
    /// the source was told.
    void tell_source() noexcept {
        std::call_once(source_told_, [this] { stop_source(); });
    }

    std::atomic<bool> stop_requested_{false};
    std::once_flag source_told_;
};

}  // namespace strid::operators
