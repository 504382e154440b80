// SPDX-License-Identifier: Apache-2.0
//
// Where a replica's batches come from: one link per producing replica, read in turn; or, `ordered`,
// merged back into the order in which the batches were numbered before a parallel section.
//
// Threads: only the task of the node. The law (ordered): batches of sequence s are all delivered
// before the first of s + 1; each link carries its sequences in rising order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <strid/operator/link.hpp>

namespace strid::operators {

class InputPort {
  public:
    /// Links are owned by the producers' ports, which outlive this one's use.
    void attach(Link& link) {
        open_.push_back(&link);
        link.set_input(merge_.add_input());
    }
    void restore_order() noexcept { ordered_ = true; }
    /// The links come from replicas that share one stream: WatermarkMerge::wait_for_idle().
    void wait_for_idle() noexcept { merge_.wait_for_idle(); }

    /// A received batch and the link to give it back over; a null batch where nothing waits.
    struct Received {
        memory::Block* batch = nullptr;
        Link* link = nullptr;
    };
    [[nodiscard]] Received receive();
    /// True when every producer has closed and everything was received.
    [[nodiscard]] bool exhausted() const noexcept { return open_.empty(); }
    /// A received batch was handled, and what it promises holds from now on.
    void handled(const Link& link, const message::BatchHeader& header);
    /// How far the input has come: the least of what the links promise. In an ordered section what
    /// the last batch said, because that is the place of the whole stream.
    [[nodiscard]] Progress progress() const noexcept {
        return ordered_ ? last_ : merge_.progress();
    }
    /// What the link has promised of the batches that it brings now: a record that breaks it is
    /// late whatever other links say.
    [[nodiscard]] EventTime promised(const Link& link) const noexcept {
        return ordered_ ? last_.watermark : merge_.promised(link.input());
    }
    /// True where some batch waits; approximate.
    [[nodiscard]] bool waiting() const noexcept;

  private:
    Received receive_ordered();
    Received receive_any();

    void end(Link& link) { merge_.set_ended(link.input()); }

    std::vector<Link*> open_;  // the links that may still deliver
    WatermarkMerge merge_;
    Progress last_;  // ordered: of the last batch
    std::size_t next_ = 0;
    bool ordered_ = false;
    std::uint64_t expected_ = 0;
};

}  // namespace strid::operators
