// SPDX-License-Identifier: Apache-2.0
//
// The figures of a run, as plain values. The counters are always on. Running::report() makes a
// report while the graph runs: each of its figures is exact at some recent moment, and two of them
// need not be of the same moment. The reports of run(), wait() and RunEnd are exact.
//
// Threads: as of any plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <strid/operator/connections.hpp>

namespace strid {

/// One operator, all replicas together.
struct OperatorReport {
    std::string name;                     ///< Unique in the graph.
    std::string kind;                     ///< "map", "filter", "window", ...
    std::size_t parallelism = 1;          ///< Replicas.
    std::uint64_t records_in = 0;         ///< Records that arrived; of a source 0.
    std::uint64_t records_out = 0;        ///< Records that were emitted; of a sink 0.
    std::uint64_t records_malformed = 0;  ///< Refused by a source under the user's policy.
    /// Late here (windows, joins, deduplicate, an order of time): left out, or given apart. One
    /// record may be late at several operators.
    std::uint64_t records_late = 0;
    /// Records for which its function threw (OnException::skip, `dead_letter`, SkipRecord).
    std::uint64_t records_skipped = 0;
    /// The present state of all replicas: keys, and the bytes of the tables by key and of waiting
    /// records. Memory that values of user types own elsewhere is not included.
    std::uint64_t state_keys = 0;
    std::uint64_t state_bytes = 0;  ///< See state_keys.
    /// The application's counters (Context::counter), by name.
    std::map<std::string, std::uint64_t> counters = {};
};

/// The number of records with a latency of at most this, and more than the bucket below, listed or
/// not.
struct LatencyBucket {
    std::int64_t at_most_ns;  ///< Nanoseconds.
    std::uint64_t count;      ///< Records in the bucket.
};

/// A latency in nanoseconds since the ingress time of the record (for an open-loop source: since
/// the record was due).
struct LatencyReport {
    std::uint64_t count = 0;  ///< Records that were measured, with the latency of their batch.
    std::int64_t p50_ns = 0;  ///< The median, nanoseconds.
    std::int64_t p95_ns = 0;  ///< The 95th percentile, nanoseconds.
    std::int64_t p99_ns = 0;  ///< The 99th percentile, nanoseconds.
    std::int64_t max_ns = 0;  ///< The longest, nanoseconds.
    double mean_ns = 0;       ///< The mean, nanoseconds.
    /// The non-empty buckets, in rising order: each power of two is divided into 32.
    std::vector<LatencyBucket> histogram = {};
};

/// The parts of the latency in nanoseconds (paper 2, section 5.4 and figure 19), from a sample of
/// the batches: all of them at low rates, else about 200 a second for each replica and each output.
/// A record takes as long as its batch.
struct LatencySplit {
    std::uint64_t batches = 0;  ///< In the sample.
    std::uint64_t records = 0;  ///< In these batches.
    /// The time in the operators, all batches together: the user's functions, the work of the
    /// operators themselves (state by key, windows), and writing each record into its batch. For a
    /// source, the time to make its records.
    std::uint64_t user_ns = 0;
    /// The time in the engine: keeping texts alive, sending batches, leasing and returning blocks,
    /// waking consumers.
    std::uint64_t engine_ns = 0;
    /// The time of waiting: in a queue, for a worker, for room at the output, for a batch to be
    /// sent.
    std::uint64_t waiting_ns = 0;
    /// The mean part of each in the latency of a record; 0 if there are no records.
    double user_mean_ns = 0;
    double engine_mean_ns = 0;   ///< See user_mean_ns.
    double waiting_mean_ns = 0;  ///< See user_mean_ns.

    /// The sum of the three.
    [[nodiscard]] double latency_mean_ns() const noexcept {
        return user_mean_ns + engine_mean_ns + waiting_mean_ns;
    }
    /// Combines both samples.
    LatencySplit& operator+=(const LatencySplit& other) noexcept;
};

/// One fused segment, all replicas together.
struct SegmentReport {
    std::vector<OperatorReport> operators = {};  ///< In the order of the stream.
    std::size_t parallelism = 1;                 ///< Replicas.
    std::uint64_t batches = 0;                   ///< Batches that were handled.
    std::uint64_t refusals = 0;                  ///< Runs that found no spare block: back-pressure.
    /// The time of all replicas in the fused loop, waiting for input, and waiting for room at the
    /// output. The rest of the run they waited for a worker.
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;     ///< See busy_ns.
    std::uint64_t refused_ns = 0;  ///< See busy_ns.
    /// How full the input rings were when a batch was taken out, 0 to 1, for all batches: 1 if as
    /// many batches waited as the producer has blocks.
    double queue_fill = 0;
    /// Its two sums over all batches: the batches that waited, and those that could have. Between
    /// two reports the fill was the difference of the one by that of the other.
    std::uint64_t queued_batches = 0;
    std::uint64_t queued_batches_max = 0;  ///< See queued_batches.
    /// The most blocks that were in use at once, the sum over the pools of the outputs.
    std::uint64_t pool_high_water_blocks = 0;
    std::uint64_t pool_refused_leases = 0;  ///< How often one of these pools had no block to give.
    /// The watermark that the segment has sent, nanoseconds of event time: the least of the
    /// replicas that are not idle and have not ended. Nothing in a stream without watermarks, and
    /// where the segment ends in a sink.
    std::optional<std::int64_t> watermark_ns = std::nullopt;
    /// The latency until the segment was done with the batch; for each record the age of the oldest
    /// record in its batch.
    LatencyReport latency = {};
    /// The time from the send of a batch by the segment before (in a source: from the ingress time
    /// of its oldest record) until this segment is done with it. The operators of a segment are one
    /// loop and have one figure; without fusion (RunOptions::fuse) each has its own.
    LatencySplit split = {};
    /// For a segment that ends in a sink: the latency of the batches that it gets, since the
    /// ingress time of the oldest record. Only batches whose whole way is in the sample count.
    LatencySplit path = {};
};

/// The figures of a run, up to its end or up to now. A plain value.
struct RunReport {
    std::string graph;   ///< The graph's name.
    double seconds = 0;  ///< How long the run has taken.
    /// Workers for which the graph was planned: RunOptions::workers, or the cores. A run with fewer
    /// tasks has fewer threads; a source or sink that blocks has one more of its own.
    std::size_t workers = 0;
    std::size_t tasks = 0;                     ///< Tasks; each steps one node or several.
    std::vector<SegmentReport> segments = {};  ///< In the order in which they were declared.
    /// The part of the input that is read, 0 to 1, for the source that is furthest from its end;
    /// negative if one of them does not report it.
    double fraction_done = -1;
    std::uint64_t bytes_read = 0;  ///< By sources that read bytes; of compressed files, as stored.
    /// From the ingress time of a record to the end of its batch in a sink.
    LatencyReport latency = {};
    /// The parts of that latency, for the paths to all sinks.
    LatencySplit path = {};
    /// The places outside that transports have connected to.
    std::vector<ConnectionReport> connections = {};

    /// Records that the sources emitted.
    [[nodiscard]] std::uint64_t records_in() const noexcept;
    /// Records that the sinks took.
    [[nodiscard]] std::uint64_t records_out() const noexcept;
    /// The operator of this name, in this report; null where there is none.
    [[nodiscard]] const OperatorReport* find(const std::string& name) const noexcept;
    /// The cost of each operator: nanoseconds of work per record that the sources emitted. That is
    /// the cost of one of its records times the selectivity of the operators before it (paper 2,
    /// section 5.3). In a run with fusion, the time of a segment is divided evenly among its
    /// operators: measure with RunOptions::fuse false. Empty while the sources have emitted
    /// nothing. For RunOptions::loads of the next run.
    [[nodiscard]] std::map<std::string, double> loads() const;
    /// All of it but fraction_done as JSON, one object, with the names of the members as keys and
    /// records_in and records_out besides. A histogram is `histogram_ns`, pairs [at_most_ns,
    /// count].
    [[nodiscard]] std::string to_json() const;
};

/// How a run ended.
enum class Outcome : std::uint8_t {
    finished,   ///< The sources were at their ends, and every record is through; no stop().
    stopped,    ///< stop() was called, and what had come in is through.
    cancelled,  ///< cancel() was called, or the `Running` was destroyed.
    failed      ///< Something threw: `failure`.
};

/// The end of a run.
struct RunEnd {
    Outcome outcome = Outcome::finished;  ///< How it ended.
    /// The exception that wait() throws, an OperatorError for user code; null where nothing failed.
    std::exception_ptr failure = nullptr;
    RunReport report = {};  ///< As of the end.
};

}  // namespace strid
