// SPDX-License-Identifier: Apache-2.0
//
// What may be said about an operator where it is called, and about a run as a whole. Every default
// is the one that a careful engineer would pick; 0 and empty mean "the engine decides".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include <strid/graph/report.hpp>
#include <strid/operator/output_port.hpp>
#include <strid/runtime/options.hpp>

namespace strid {

/// What an operator does about an exception of its function.
enum class OnException : std::uint8_t {
    stop,  ///< The run ends with an OperatorError.
    /// The record goes no further and is counted (OperatorReport::records_skipped). What the
    /// function changed before it threw stays changed, and what a flat_map emitted before is on its
    /// way. Want of memory ends the run all the same. Of map, filter, flat_map, accumulate, reduce,
    /// process, sink and key_by; a GraphError elsewhere. To learn of each such record, give the
    /// function to `dead_letter` instead.
    skip
};

/// Options of one operator: `.map(parse, {.name = "parse", .parallelism = 4})`.
struct OperatorOptions {
    std::string name = {};        ///< Unique in the graph; empty: its kind and a number.
    std::size_t parallelism = 0;  ///< Replicas; 0: chosen by the planner.
    /// The action for an exception of the operator's function.
    OnException on_exception = OnException::stop;
};

/// Asks an operator for its late records as a stream of their own, and stands before its options:
/// `auto [results, late] = std::move(stream).window(windows, time_of, f, late_apart)`. All streams
/// that come out have to be consumed.
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
    /// Windows that are over fire after this long at the latest, though nothing comes.
    std::chrono::nanoseconds every = std::chrono::milliseconds{10};
};

/// How records reach the replicas of the next operator (paper 2, figure 17).
enum class Composition : std::uint8_t {
    combined,    ///< By the producing replica itself: no further thread or hop.
    dedicated,   ///< By one distributing node per producing replica.
    centralised  ///< By one distributing node for all of them.
};

/// Options of a run.
struct RunOptions {
    /// Which threads step the tasks.
    using Mode = runtime::ExecutionOptions::Mode;
    /// How an idle thread waits.
    using Waiting = runtime::ExecutionOptions::Waiting;

    Mode mode = Mode::cooperative;  ///< Which threads step the tasks.
    std::size_t workers = 0;        ///< Cooperative workers; 0: one per core.
    std::size_t parallelism = 0;    ///< For operators that say nothing of their own; 0: automatic.
    std::map<std::string, std::size_t> operator_parallelism = {};  ///< By name; overrules the rest.
    /// What operators were measured to cost (RunReport::loads()). A parallel section that nothing
    /// else is said of gets the replicas that its share of the cores asks for. Empty: one replica
    /// per worker.
    std::map<std::string, double> loads = {};
    bool fuse = true;  ///< False: every operator is a node of its own, as in the papers.
    Composition composition = Composition::combined;  ///< How records reach the next replicas.
    Waiting waiting = Waiting::park;                  ///< How an idle thread waits.
    bool pin = false;                                 ///< True: each worker stays on its core.
    /// Processor of each task, as explain() lists them. The nodes of patterns have these in turn.
    std::vector<int> affinity = {};
    std::uint64_t seed = 1;  ///< Of the simulation and of a perturbed run.
    /// For tests of what stands on the engine: batches of a few records, blocks that run out, rings
    /// of two, as the simulation does, under the scheduler of `mode`. The environment variable
    /// STRID_PERTURB=1 does so to every run of a program. Slow; the answer must not change.
    bool perturb = false;
    /// A task that has work and ends no step for this long is reported to `on_stalled`; 0: none.
    std::chrono::milliseconds watchdog{0};
    /// Called by the watchdog's thread with the names of these tasks; what it throws ends the run.
    std::function<void(const std::vector<std::string>&)> on_stalled = {};
    std::size_t block_bytes = std::size_t{32} << 10;  ///< Memory of one batch at most.
    /// What the records of one batch may own on the heap (base/heap_bytes.hpp) before it is full:
    /// strings and vectors are held back by their size as plain records are by theirs.
    std::size_t batch_heap_bytes = operators::batch_heap_bytes;
    /// What one record sets off may take so much memory before it is read, in each replica; more
    /// ends the run. Records wait for room, what is made of one of them cannot.
    std::size_t fan_out_bytes_max = operators::fan_out_bytes_max;
    /// While a run is being started: a source that reads all its input before it emits any
    /// (`replay`) then ends without. Later Running::stop().
    std::stop_token stop_opening = {};
    /// Called once, when a run that start() has begun is over, however it ended: no operator runs
    /// any more, all doors have ended, and `Running` says so as soon as this returns. A thread of
    /// the run calls it, maybe before start() has returned. It may join threads that push, pop or
    /// wait for anything but the run, and start other runs; it must not call wait() or wait_for()
    /// of this one, nor destroy it. What it throws is thrown by wait(), unless the run has failed.
    std::function<void(const RunEnd&)> on_end = {};
};

/// The most replicas that one operator may have.
inline constexpr std::size_t parallelism_max = 1024;

}  // namespace strid
