// SPDX-License-Identifier: Apache-2.0
//
// An item of a queue must move without an exception: half a move cannot be handed over.
// expect: declare its move assignment noexcept
#include <utility>

#include <strid/channel/queue.hpp>

struct Item {
    Item() = default;
#ifdef STRID_MUST_NOT_COMPILE
    Item& operator=(Item&& other) {
#else
    Item& operator=(Item&& other) noexcept {
#endif
        value = std::exchange(other.value, 0);
        return *this;
    }
    int value = 0;
};

template class strid::channel::Queue<Item, strid::channel::Side::many, strid::channel::Side::many,
                                     strid::channel::Bound::bounded,
                                     strid::channel::Construction::direct>;
