// SPDX-License-Identifier: Apache-2.0
//
// An element of a ring must move without an exception: half a move cannot be handed over.
// expect: Channelable
#include <utility>

#include <strid/engine/channel/spsc_ring.hpp>

struct Item {
    Item() = default;
#ifdef STRID_MUST_NOT_COMPILE
    Item& operator=(Item&& other) {
        value = std::exchange(other.value, 0);
        return *this;
    }
#else
    Item& operator=(Item&& other) noexcept {
        value = std::exchange(other.value, 0);
        return *this;
    }
#endif
    int value = 0;
};

template class strid::channel::SpscRing<Item>;
