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
    void attach(Link& link) { open_.push_back(&link); }
    void restore_order() noexcept { ordered_ = true; }

    /// A received batch and the link to give it back over; a null batch where nothing waits.
    struct Received {
        memory::Block* batch = nullptr;
        Link* link = nullptr;
    };
    [[nodiscard]] Received receive() noexcept;
    /// True when every producer has closed and everything was received.
    [[nodiscard]] bool exhausted() const noexcept { return open_.empty(); }
    /// True where some batch waits; approximate.
    [[nodiscard]] bool waiting() const noexcept;
    /// Mean fill of the links' rings, 0 to 1; approximate.
    [[nodiscard]] double fill() const noexcept;

  private:
    Received receive_ordered() noexcept;
    Received receive_any() noexcept;

    std::vector<Link*> open_;  // the links that may still deliver
    std::size_t next_ = 0;
    bool ordered_ = false;
    std::uint64_t expected_ = 0;
};

}  // namespace strid::operators
