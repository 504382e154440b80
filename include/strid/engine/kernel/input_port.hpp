// SPDX-License-Identifier: Apache-2.0
//
// The input of a replica: one link per producing replica, read in turn; or, `ordered`, merged back
// into the order in which the batches were numbered before a parallel section.
//
// Threads: only the task of the node. Invariant (ordered): batches of sequence s are all delivered
// before the first of s + 1; each link carries its sequences in rising order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <strid/engine/kernel/link.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/state/bytes.hpp>

namespace strid::operators {

class InputPort {
  public:
    /// The producers' ports own the links and must outlive this port's use of them.
    void attach(Link& link) {
        open_.push_back(&link);
        link.set_input(merge_.add_input());
    }
    void restore_order() noexcept { ordered_ = true; }
    /// The links come from replicas that share one stream: see WatermarkMerge::wait_for_idle().
    void wait_for_idle() noexcept { merge_.wait_for_idle(); }

    /// A received batch and the link to give it back over; null if no batch waits.
    struct Received {
        memory::Block* batch = nullptr;
        Link* link = nullptr;
    };
    [[nodiscard]] Received receive();
    /// True when every producer has closed and everything was received.
    [[nodiscard]] bool exhausted() const noexcept { return open_.empty() && held_.empty(); }
    /// The link has delivered the barrier of a snapshot: nothing more is received from it.
    void hold(Link& link, const message::BatchHeader& barrier);
    /// Each link that is not closed is held.
    [[nodiscard]] bool is_cut() const noexcept { return open_.empty() && !held_.empty(); }
    /// The links are received from again.
    void release();
    /// Where the stream is: its watermarks.
    void save(StateWriter& writer) const;
    /// Into a port of the same links.
    void load(StateReader& reader);
    /// Into a port of other links: each has the watermark that all had together. From several
    /// replicas, the greatest watermark of those.
    void load(StateReader& reader, const KeyShare& share);
    /// A received batch was processed, and its watermark is valid from now on.
    void handled(const Link& link, const message::BatchHeader& header);
    /// The watermark of the input: the least of the links. In an ordered section it is that of the
    /// last batch, because that is the position of the whole stream.
    [[nodiscard]] Progress progress() const noexcept {
        return ordered_ ? last_ : merge_.progress();
    }
    /// The watermark of the link before its present batch: a record below it is late, whatever the
    /// watermarks of other links are.
    [[nodiscard]] EventTime watermark_of(const Link& link) const noexcept {
        return ordered_ ? last_.watermark : merge_.watermark_of(link.input());
    }
    /// True if some batch waits; approximate.
    [[nodiscard]] bool waiting() const noexcept;

  private:
    Received receive_ordered();
    Received receive_any();

    void begin_at(const WatermarkMerge& before, const Progress& last);
    void end(Link& link) { merge_.set_ended(link.input()); }

    std::vector<Link*> open_;  // the links that are not drained
    std::vector<Link*> held_;  // of them, apart: those that have delivered a barrier
    WatermarkMerge merge_;
    Progress last_;  // ordered: of the last batch
    std::size_t next_ = 0;
    bool ordered_ = false;
    std::uint64_t expected_ = 0;
};

}  // namespace strid::operators
