// SPDX-License-Identifier: Apache-2.0
//
// A fixed row of SPSC rings, one per thread of the many side of a channel. Rings are immovable, so
// the row owns each behind a pointer; which thread plays which role is said by the channel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <strid/base/assert.hpp>
#include <strid/channel/spsc_ring.hpp>

namespace strid::channel::detail {

template <class T, template <class> class Atomic>
class Lanes {
  public:
    using Ring = SpscRing<T, Atomic>;

    /// `count` rings of at least `capacity_min` each; at least one ring.
    Lanes(std::size_t count, std::size_t capacity_min) {
        rings_.resize(std::max<std::size_t>(count, 1));
        for (auto& ring : rings_) ring = std::make_unique<Ring>(capacity_min);
    }
    [[nodiscard]] Ring& operator[](std::size_t lane) const noexcept {
        STRID_ASSERT(lane < rings_.size());
        return *rings_[lane];
    }
    [[nodiscard]] std::size_t count() const noexcept { return rings_.size(); }

    /// Items in all lanes at about the same moment; any thread.
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t sum = 0;
        for (const auto& ring : rings_) sum += ring->size();
        return sum;
    }

  private:
    std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace strid::channel::detail
