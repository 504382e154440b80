// SPDX-License-Identifier: Apache-2.0
//
// The figures of a run, as plain values. The counters are always on.
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
    std::string name;
    std::string kind;
    std::size_t parallelism = 1;
    std::uint64_t records_in = 0;
    std::uint64_t records_out = 0;
    std::uint64_t records_malformed = 0;  ///< Refused by a source under the user's policy.
    std::uint64_t records_late = 0;       ///< Came to a window operator after all their windows.
    /// Its function threw on them (OnException::skip, `dead_letter`, SkipRecord).
    std::uint64_t records_skipped = 0;
    /// What its state has at present, all replicas together: keys, and bytes of the tables by key
    /// and of what waits, without what the values of the user's own types have elsewhere.
    std::uint64_t state_keys = 0;
    std::uint64_t state_bytes = 0;
    /// The application's own (Context::counter), by name.
    std::map<std::string, std::uint64_t> counters = {};
};

/// So many records had a latency of at most this, and more than the bucket below, listed or not.
struct LatencyBucket {
    std::int64_t at_most_ns;
    std::uint64_t count;
};

/// A latency, nanoseconds since the record entered the graph (for an open-loop source: since the
/// record was due).
struct LatencyReport {
    std::uint64_t count = 0;
    std::int64_t p50_ns = 0;
    std::int64_t p95_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t max_ns = 0;
    double mean_ns = 0;
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
    double engine_mean_ns = 0;
    double waiting_mean_ns = 0;

    /// The three together.
    [[nodiscard]] double latency_mean_ns() const noexcept {
        return user_mean_ns + engine_mean_ns + waiting_mean_ns;
    }
    /// Both samples as one.
    LatencySplit& operator+=(const LatencySplit& other) noexcept;
};

/// One fused segment, all replicas together.
struct SegmentReport {
    std::vector<OperatorReport> operators = {};
    std::size_t parallelism = 1;
    std::uint64_t batches = 0;
    std::uint64_t refusals = 0;  ///< Runs that found no spare block: back-pressure.
    /// Time over all replicas: in the fused loop; waiting for input; waiting for room at the
    /// output. What is left of the run is waiting for a worker.
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::uint64_t refused_ns = 0;
    /// How full the input rings were when a batch was taken out of one, 0 to 1, over all batches: 1
    /// where as many waited behind it as the producer has blocks for.
    double queue_fill = 0;
    std::uint64_t pool_high_water_blocks = 0;
    std::uint64_t pool_refused_leases = 0;
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

struct RunReport {
    std::string graph;
    double seconds = 0;
    std::size_t workers = 0;
    std::size_t tasks = 0;
    std::vector<SegmentReport> segments = {};
    /// The part of the input that is read, for the source that is furthest from its end; negative
    /// if unknown.
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
    /// The cost of each operator: nanoseconds of work per record that the sources emitted. That is
    /// the cost of one of its records times the selectivity of the operators before it (paper 2,
    /// section 5.3). Of a run that fuses, the operators of a segment share its time evenly.
    [[nodiscard]] std::map<std::string, double> loads() const;
    /// All of it as JSON, one object.
    [[nodiscard]] std::string to_json() const;
};

/// How a run ended.
enum class Outcome : std::uint8_t {
    finished,   ///< The sources were at their ends, and every record is through.
    stopped,    ///< stop() was called, and what had come in is through.
    cancelled,  ///< cancel() was called, or the `Running` was destroyed.
    failed      ///< Something threw: `failure`.
};

/// A run that is over.
struct RunEnd {
    Outcome outcome = Outcome::finished;
    std::exception_ptr failure = nullptr;  ///< What wait() throws; null where nothing failed.
    RunReport report = {};
};

}  // namespace strid
