// SPDX-License-Identifier: Apache-2.0
//
// The latency of sampled batches in one node, by origin (paper 2, section 5.4 and figure 19):
//
//   user     in the operators of the node: the user's functions and what the operators themselves
//            do with records (state by key, windows), with the writing of each record into its
//            batch; of a source, its poll
//   engine   in everything else that the node does for the batch: texts kept alive, full batches
//            sent, blocks leased and given back, consumers woken
//   waiting  the rest, from the send of the batch (in a source: from the birth of its oldest
//            record) to the end of what it sets off in the node: in the ring, for a worker, for
//            room at the output
//
// A batch of the sample carries the time of its send and its cost so far (message::BatchSample). A
// node that receives it reads the clock where operators begin and end. Batches that it opens
// meanwhile are in the sample, too, so that a sink has the parts of the whole way. Batches that are
// not in the sample read no clock. Design note 0021.
//
// Threads: the task of the node; any thread may read the totals.
#pragma once

#include <algorithm>
#include <cstdint>

#include <strid/engine/kernel/sample_choice.hpp>
#include <strid/engine/memory/block_pool.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/count.hpp>

namespace strid::operators {

class OutputPort;

class SplitClock {
  public:
    struct Times {
        std::int64_t user_ns;
        std::int64_t engine_ns;
        std::int64_t waiting_ns;
    };
    /// Sums over sampled batches. Relaxed, each on its own: Running::State::report() reads them.
    struct Totals {
        SharedCount batches;
        SharedCount records;  ///< In these batches.
        SharedCount user_ns;
        SharedCount engine_ns;
        SharedCount waiting_ns;
        /// The times of each batch multiplied by its number of records.
        SharedSum user_of_records_ns;
        SharedSum engine_of_records_ns;
        SharedSum waiting_of_records_ns;

        void add(std::uint64_t records_of_batch, const Times& times) noexcept;
    };

    /// The present batch, or poll of a source, is in the sample.
    [[nodiscard]] bool on() const noexcept { return on_; }

    /// The node begins a batch.
    void take(memory::Block& batch) noexcept {
        if (message::sample_of(batch).sent_ns != 0) [[unlikely]]
            begin(batch);
    }
    /// A source begins a poll in the run that began at `start_ns`.
    void poll(std::int64_t start_ns) noexcept {
        if (choice_.due(start_ns)) [[unlikely]]
            begin_poll();
    }
    /// A run continues the batch of an earlier one.
    void go_on() noexcept {
        if (on_) [[unlikely]]
            resume();
    }
    [[nodiscard]] bool in_operators() const noexcept { return in_operators_; }
    void enter_operators() noexcept {
        if (on_) [[unlikely]]
            turn(true);
    }
    void leave_operators() noexcept {
        if (on_) [[unlikely]]
            turn(false);
    }
    /// The poll has only waited until `ns`, which is no cost of its records.
    void waited_until(std::int64_t ns) noexcept {
        if (on_) [[unlikely]]
            since_ns_ = std::max(since_ns_, ns);
    }
    /// A run ends at `end_ns` that processed `records` records; `done`: the batch and all its
    /// output are finished. `output` is null in a sink.
    void end_run(std::int64_t end_ns, std::int64_t ingress_ns, std::uint64_t records, bool done,
                 OutputPort* output) noexcept {
        if (on_) [[unlikely]]
            end(end_ns, ingress_ns, records, done, output);
    }
    /// A poll had no result.
    void drop(OutputPort* output) noexcept {
        if (on_) [[unlikely]]
            end_without(output);
    }

    /// The cost of the present batch until `now_ns`, on its whole way; the caller adds `sent_ns`.
    [[nodiscard]] message::BatchSample so_far(std::int64_t now_ns) const noexcept;

    /// The totals of this node.
    [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
    /// From the entry into the graph to the end of a batch in this node, if it is a sink.
    [[nodiscard]] const Totals& path() const noexcept { return path_; }

  private:
    void begin(memory::Block& batch) noexcept;
    void begin_poll() noexcept;
    void begin() noexcept;
    void resume() noexcept;
    void turn(bool to_operators) noexcept;
    void add_until(std::int64_t now_ns) noexcept;
    void end(std::int64_t end_ns, std::int64_t ingress_ns, std::uint64_t records, bool done,
             OutputPort* output) noexcept;
    void end_without(OutputPort* output) noexcept;

    bool on_ = false;
    bool in_operators_ = false;
    std::int64_t since_ns_ = 0;  // the clock was last read
    // For the present batch:
    std::int64_t ingress_ns_ = 0;
    std::int64_t user_ns_ = 0;
    std::int64_t engine_ns_ = 0;
    std::uint64_t records_ = 0;
    message::BatchSample before_{};  // its cost when it came; sent at 0: made by a poll
    SampleChoice choice_;            // of a source's polls
    Totals totals_;
    Totals path_;
};

}  // namespace strid::operators
