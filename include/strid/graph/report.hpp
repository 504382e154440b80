// SPDX-License-Identifier: Apache-2.0
//
// What a run did, as plain values. The counters behind it are always on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace strid {

/// One operator, all replicas together.
struct OperatorReport {
    std::string name;                     ///< Unique in the graph.
    std::string kind;                     ///< "map", "filter", "window", ...
    std::size_t parallelism = 1;          ///< Replicas.
    std::uint64_t records_in = 0;         ///< Records that arrived; of a source 0.
    std::uint64_t records_out = 0;        ///< Records that were emitted; of a sink 0.
    std::uint64_t records_malformed = 0;  ///< Refused by a source under the user's policy.
    std::uint64_t records_late = 0;       ///< Came to a window operator after all their windows.
    /// Its function threw on them (OnException::skip, `dead_letter`, SkipRecord).
    std::uint64_t records_skipped = 0;
    /// What its state has at present, all replicas together: keys, and bytes of the tables by key
    /// and of what waits, without what the values of the user's own types have elsewhere.
    std::uint64_t state_keys = 0;
    std::uint64_t state_bytes = 0;  ///< See state_keys.
    /// The application's own (Context::counter), by name.
    std::map<std::string, std::uint64_t> counters = {};
};

/// So many records had a latency of at most this, and more than the bucket below, listed or not.
struct LatencyBucket {
    std::int64_t at_most_ns;  ///< Nanoseconds.
    std::uint64_t count;      ///< Records in the bucket.
};

/// A latency, nanoseconds since the record entered the graph (for an open-loop source: since the
/// record was due).
struct LatencyReport {
    std::uint64_t count = 0;  ///< Records that were measured.
    std::int64_t p50_ns = 0;  ///< The median, nanoseconds.
    std::int64_t p95_ns = 0;  ///< The 95th percentile, nanoseconds.
    std::int64_t p99_ns = 0;  ///< The 99th percentile, nanoseconds.
    std::int64_t max_ns = 0;  ///< The longest, nanoseconds.
    double mean_ns = 0;       ///< The mean, nanoseconds.
    /// Those that are not empty, rising: each power of two is cut into 32.
    std::vector<LatencyBucket> histogram = {};
};

/// Where latency comes from (paper 2, section 5.4 and figure 19), nanoseconds, of a sample of the
/// batches: all where they are few, else about 200 a second of each replica, and as many of each
/// output. A record takes as long as the batch that it is in.
struct LatencySplit {
    std::uint64_t batches = 0;  ///< In the sample.
    std::uint64_t records = 0;  ///< In these batches.
    /// In the operators, of all batches together: the user's functions and what the operators do
    /// themselves with records (state by key, windows), with the writing of each record into its
    /// batch; of a source, the making of its records.
    std::uint64_t user_ns = 0;
    /// In the engine: texts kept alive, batches sent, blocks leased and given back, consumers
    /// woken.
    std::uint64_t engine_ns = 0;
    /// In a queue, for a worker, for room at the output, for a batch to be sent.
    std::uint64_t waiting_ns = 0;
    /// What each adds to the latency of a record, a mean over the records; 0 where there are none.
    double user_mean_ns = 0;
    double engine_mean_ns = 0;   ///< See user_mean_ns.
    double waiting_mean_ns = 0;  ///< See user_mean_ns.

    /// The three together.
    [[nodiscard]] double latency_mean_ns() const noexcept {
        return user_mean_ns + engine_mean_ns + waiting_mean_ns;
    }
    /// Both samples as one.
    LatencySplit& operator+=(const LatencySplit& other) noexcept;
};

/// One fused segment, all replicas together.
struct SegmentReport {
    std::vector<OperatorReport> operators = {};  ///< In the order of the stream.
    std::size_t parallelism = 1;                 ///< Replicas.
    std::uint64_t batches = 0;                   ///< Batches that were handled.
    std::uint64_t refusals = 0;                  ///< Runs that found no spare block: back-pressure.
    /// Time over all replicas: in the fused loop; waiting for input; waiting for room at the
    /// output. What is left of the run is waiting for a worker.
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;     ///< See busy_ns.
    std::uint64_t refused_ns = 0;  ///< See busy_ns.
    /// How full the input rings were when a batch was taken out of one, 0 to 1, over all batches: 1
    /// where as many waited behind it as the producer has blocks for.
    double queue_fill = 0;
    /// The most blocks that were in use at once, the sum over the pools of the outputs.
    std::uint64_t pool_high_water_blocks = 0;
    std::uint64_t pool_refused_leases = 0;  ///< How often one of these pools had no block to give.
    /// Until the segment was done with the batch; per record the age of the oldest in its batch.
    LatencyReport latency = {};
    /// From the send of a batch by the segment before (in a source: from the birth of its oldest
    /// record) until this segment is done with it. Of the operators of the segment together, which
    /// are one loop; of each alone where a run does not fuse (RunOptions::fuse).
    LatencySplit split = {};
    /// Of a segment that ends in a sink: the latency of the batches that come to it, from the entry
    /// of the oldest record on. Of those only whose whole way is in the sample.
    LatencySplit path = {};
};

/// What a run did. A plain value.
struct RunReport {
    std::string graph;                         ///< The graph's name.
    double seconds = 0;                        ///< How long the run has taken.
    std::size_t workers = 0;                   ///< Threads that step tasks.
    std::size_t tasks = 0;                     ///< Tasks; each steps one node or several.
    std::vector<SegmentReport> segments = {};  ///< In the order in which they were declared.
    /// Of the input of the source that is furthest from its end; negative where one does not know.
    double fraction_done = -1;
    std::uint64_t bytes_read = 0;  ///< By sources that read bytes.
    /// From a record's entry to the end of its batch in a sink.
    LatencyReport latency = {};
    /// The same, split: the paths to all sinks.
    LatencySplit path = {};

    /// Records that the sources emitted.
    [[nodiscard]] std::uint64_t records_in() const noexcept;
    /// Records that the sinks took.
    [[nodiscard]] std::uint64_t records_out() const noexcept;
    /// The operator of this name; null where there is none.
    [[nodiscard]] const OperatorReport* find(const std::string& name) const noexcept;
    /// What each operator costs: nanoseconds of work per record that the sources emitted, so the
    /// cost of one of its records times the selectivity of what comes before it (paper 2, section
    /// 5.3). Of a run that fuses, the operators of a segment share its time evenly.
    [[nodiscard]] std::map<std::string, double> loads() const;
    /// All of it as JSON, one object.
    [[nodiscard]] std::string to_json() const;
};

/// What ended a run.
enum class Outcome : std::uint8_t {
    finished,   ///< The sources were at their ends, and every record is through.
    stopped,    ///< stop() was called, and what had come in is through.
    cancelled,  ///< cancel() was called, or the `Running` was destroyed.
    failed      ///< Something threw: `failure`.
};

/// A run that is over.
struct RunEnd {
    Outcome outcome = Outcome::finished;   ///< How it ended.
    std::exception_ptr failure = nullptr;  ///< What wait() throws; null where nothing failed.
    RunReport report = {};                 ///< As of the end.
};

}  // namespace strid
