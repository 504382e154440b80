// SPDX-License-Identifier: Apache-2.0
//
// The options of an operator and of a run. The defaults suit most programs; 0 and empty mean that
// the engine decides.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <strid/engine/kernel/output_port.hpp>
#include <strid/runtime/execution_options.hpp>
#include <strid/state/snapshot_folder.hpp>
#include <strid/stream/report.hpp>

namespace strid {

/// The action of an operator whose function throws.
enum class OnException : std::uint8_t {
    stop,  ///< The run ends with an OperatorError.
    /// The record is dropped and counted (OperatorReport::records_skipped). State that the function
    /// changed before it threw stays changed, and records that a flat_map emitted before are sent.
    /// std::bad_alloc ends the run all the same. For map, filter, flat_map, accumulate, reduce,
    /// process, sink and key_by; a GraphError elsewhere. To get each such record, wrap the function
    /// in `dead_letter` instead.
    skip
};

/// Options of one operator: `.map(parse, {.name = "parse", .parallelism = 4})`.
struct OperatorOptions {
    std::string name = {};        ///< Unique in the graph; empty: its kind and a number.
    std::size_t parallelism = 0;  ///< Replicas; 0: chosen by the planner.
    /// The action for an exception of the operator's function.
    OnException on_exception = OnException::stop;
};

/// Asks an operator for its late records as a second stream. It stands before the options: `auto
/// [results, late] = std::move(stream).window(windows, time_of, f, late_apart)`. All returned
/// streams must be consumed.
struct LateApart {
    /// For `late_apart` alone.
    explicit constexpr LateApart(int) noexcept {}  // not made of {}
};
/// Asks for late records as a stream of their own.
inline constexpr LateApart late_apart{0};

/// Options of `event_time`.
struct EventTimeOptions {
    std::string name = {};                   ///< Unique in the graph; empty: its kind and a number.
    std::chrono::nanoseconds idle_after{0};  ///< 0: never idle.
};

/// Options of `ingress_time`.
struct IngressTimeOptions {
    std::string name = {};  ///< Unique in the graph; empty: its kind and a number.
    /// Expired windows fire within this time, even if no record comes.
    std::chrono::nanoseconds every = std::chrono::milliseconds{10};
};

/// How records reach the replicas of the next operator (paper 2, figure 17).
enum class Composition : std::uint8_t {
    combined,    ///< By the producing replica itself: no further thread or hop.
    dedicated,   ///< By one distributing node per producing replica.
    centralised  ///< By one distributing node for all of them.
};

/// Snapshots of a run: what its operators and sources know, stored in a folder now and then, so
/// that another run goes on there when this one was ended by anything (docs/snapshots.md).
struct SnapshotOptions {
    /// The folder; empty: no snapshots. Where it has a snapshot of the same graph, the run goes on
    /// from there: each record has its effect once. A folder of another graph, or of a run that
    /// has reached its end, is a GraphError.
    std::string folder = {};
    /// In place of a folder: a store of the program's own.
    std::shared_ptr<SnapshotStore> store = nullptr;
    std::chrono::nanoseconds every = std::chrono::seconds{10};  ///< From one to the next.
    bool restart = false;  ///< Begins anew, whatever the folder has.
    /// Goes on also where the graph has some operators no more whose state, or result file, the
    /// snapshot has: these are given up. Operators that are new begin anew in any case.
    bool allow_lost = false;
    /// stop() drains the graph and ends the stream for good. Otherwise it takes a last snapshot,
    /// and no window and no timer fires.
    bool drain = false;

    /// Whether the run takes snapshots.
    [[nodiscard]] bool on() const noexcept { return !folder.empty() || store != nullptr; }
};

/// Options of a run.
struct RunOptions {
    /// Which threads step the tasks.
    using Mode = runtime::ExecutionOptions::Mode;
    /// How an idle thread waits.
    using Waiting = runtime::ExecutionOptions::Waiting;

    Mode mode = Mode::cooperative;  ///< Which threads step the tasks.
    std::size_t workers = 0;        ///< Cooperative workers; 0: one per core.
    /// Replicas behind `key_by` and `rebalance`, of operators without a number of their own; 0:
    /// automatic. Sources, and sinks with a state, have one unless their own options or
    /// operator_parallelism name another number.
    std::size_t parallelism = 0;
    std::map<std::string, std::size_t> operator_parallelism = {};  ///< By name; overrules the rest.
    /// Measured costs of the operators (RunReport::loads()). A parallel section without a given
    /// parallelism gets replicas by its share of the total cost. Empty: one replica per worker.
    std::map<std::string, double> loads = {};
    bool fuse = true;  ///< False: every operator is a node of its own, as in the papers.
    Composition composition = Composition::combined;  ///< How records reach the next replicas.
    Waiting waiting = Waiting::park;                  ///< How an idle thread waits.
    bool pin = false;                                 ///< True: each worker stays on its core.
    /// The processor of each task, in the order of explain(). The nodes of patterns take them in
    /// turn.
    std::vector<int> affinity = {};
    std::uint64_t seed = 1;  ///< Of the simulation and of a perturbed run.
    /// For tests of programs: batches of a few records, pools that run out of blocks and rings of
    /// two slots, as in the simulation, under the scheduler of `mode`. The environment variable
    /// STRID_PERTURB=1 does the same for every run of a program. It is slow; the results must not
    /// change.
    bool perturb = false;
    /// A task that has work and ends no step for this long is reported to `on_stalled`; 0: none.
    /// Without an `on_stalled` nothing is reported, except by the functions that run a graph from
    /// main(), which write it to standard error.
    std::chrono::milliseconds watchdog{0};
    /// Called by the watchdog's thread with the names of these tasks; what it throws ends the run.
    std::function<void(const std::vector<std::string>&)> on_stalled = {};
    /// Called with a sentence where something is wrong and the run goes on: a snapshot that could
    /// not be stored, a server that cannot be reached; one at a time, by any thread of the run. The
    /// functions that run a graph from main() write it to standard error.
    std::function<void(const std::string&)> on_warning = {};
    std::size_t block_bytes = std::size_t{32} << 10;  ///< Memory of one batch at most.
    /// The bytes that the records of one batch may own on the heap (base/heap_bytes.hpp) before the
    /// batch is full, so that strings and vectors count towards back-pressure.
    std::size_t batch_heap_bytes = operators::batch_heap_bytes;
    /// The most unread output, in bytes and for each replica, that one input record may produce;
    /// more ends the run. Back-pressure acts between two input records only, not within the output
    /// of one.
    std::size_t fan_out_bytes_max = operators::fan_out_bytes_max;
    /// Stops a source that reads all its input before it emits any (`replay`) while the run is
    /// being started; it then ends without records. Once the run has started, use Running::stop().
    std::stop_token stop_opening = {};
    SnapshotOptions snapshots = {};  ///< None unless a folder is named.
    /// Called once, when a run that start() has begun is over, however it ended. No operator runs
    /// any more and all inlets and outlets have ended; Running::finished() becomes true as soon as
    /// this returns. A thread of the run calls it, maybe before start() has returned. It may start
    /// other runs, and join threads that push, pop or wait for anything but this run. It must not
    /// call wait() or wait_for() of this run, nor destroy it. An exception from it is thrown by
    /// wait(), unless the run has failed.
    std::function<void(const RunEnd&)> on_end = {};
};

/// The most replicas that one operator may have.
inline constexpr std::size_t parallelism_max = 1024;

/// Options of `graph_node` (stream/graph_node.hpp).
struct GraphNodeOptions {
    /// The options of the run of the graph; one worker unless given.
    RunOptions run = {.workers = 1};
    /// Tasks that may wait for the graph, and results that may wait for the node.
    std::size_t lane_tasks = 256;
};

}  // namespace strid
