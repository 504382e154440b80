// SPDX-License-Identifier: Apache-2.0
//
// Where the latency of sampled batches goes in one node (paper 2, section 5.4 and figure 19):
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
// A batch of the sample says when it was sent and what it has cost so far (message::BatchSample). A
// node that takes it reads the clock where operators begin and end, and what it opens meanwhile is
// of the sample too, so that a sink knows the split of the whole way. Batches that are not in the
// sample read no clock. Design note 0021.
//
// Threads: the task of the node; the totals may be read by any.
#pragma once

#include <cstdint>

#include <strid/memory/block_pool.hpp>
#include <strid/message/batch.hpp>
#include <strid/operator/count.hpp>
#include <strid/operator/sample_choice.hpp>

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
        Count batches;
        Count records;  ///< In these batches.
        Count user_ns;
        Count engine_ns;
        Count waiting_ns;
        /// The times of each batch as often as it has records.
        Sum user_of_records_ns;
        Sum engine_of_records_ns;
        Sum waiting_of_records_ns;

        void add(std::uint64_t records_of_batch, const Times& times) noexcept;
    };

    /// A batch of the sample is at hand, or a poll of a source.
    [[nodiscard]] bool on() const noexcept { return on_; }

    /// The node takes up a batch.
    void take(memory::Block& batch) noexcept {
        if (message::sample_of(batch).sent_ns != 0) [[unlikely]]
            begin(batch);
    }
    /// A source begins a poll in the run that began at `start_ns`.
    void poll(std::int64_t start_ns) noexcept {
        if (choice_.due(start_ns)) [[unlikely]]
            begin_poll();
    }
    /// A run goes on with what an earlier one began.
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
    /// A run ends at `end_ns` that handled so many records; `done`: with the batch and all that it
    /// set off. `output` is null in a sink.
    void end_run(std::int64_t end_ns, std::int64_t born_ns, std::uint64_t records, bool done,
                 OutputPort* output) noexcept {
        if (on_) [[unlikely]]
            end(end_ns, born_ns, records, done, output);
    }
    /// A poll came to nothing.
    void drop(OutputPort* output) noexcept {
        if (on_) [[unlikely]]
            end_without(output);
    }

    /// What the batch at hand has cost until `now_ns`, on its whole way; with `sent_ns` still to
    /// say.
    [[nodiscard]] message::BatchSample so_far(std::int64_t now_ns) const noexcept;

    /// Of this node.
    [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
    /// From the entry into the graph to the end of a batch in this node, where that is a sink.
    [[nodiscard]] const Totals& path() const noexcept { return path_; }

  private:
    void begin(memory::Block& batch) noexcept;
    void begin_poll() noexcept;
    void begin() noexcept;
    void resume() noexcept;
    void turn(bool to_operators) noexcept;
    void add_until(std::int64_t now_ns) noexcept;
    void end(std::int64_t end_ns, std::int64_t born_ns, std::uint64_t records, bool done,
             OutputPort* output) noexcept;
    void end_without(OutputPort* output) noexcept;

    bool on_ = false;
    bool in_operators_ = false;
    std::int64_t since_ns_ = 0;  // the clock was last read
    // Of the batch at hand:
    std::int64_t born_ns_ = 0;
    std::int64_t user_ns_ = 0;
    std::int64_t engine_ns_ = 0;
    std::uint64_t records_ = 0;
    message::BatchSample before_{};  // what it had cost when it came; sent at 0: made by a poll
    SampleChoice choice_;            // of a source's polls
    Totals totals_;
    Totals path_;
};

}  // namespace strid::operators
