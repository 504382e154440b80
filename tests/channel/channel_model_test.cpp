// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of operations by one thread, against std::deque: every result and every value.
#include <deque>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/channel/shared_pointer_ring.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

namespace strid::channel {
namespace {

/// A number that owns memory, so that a lost or doubled item is a leak or a double free too.
using Item = std::unique_ptr<int>;

/// The obvious queue: the expected results of the channel.
struct Model {
    explicit Model(std::size_t capacity) : capacity(capacity) {}
    PushResult push(int value) {
        if (closed) return PushResult::closed;
        if (items.size() == capacity) return PushResult::full;
        items.push_back(value);
        return PushResult::ok;
    }
    PopResult pop(int& value) {
        if (items.empty()) return closed ? PopResult::closed : PopResult::empty;
        value = items.front();
        items.pop_front();
        return PopResult::ok;
    }
    std::size_t capacity;
    std::deque<int> items;
    bool closed = false;
};

template <class Channel>
void push_and_compare(Channel& channel, Model& model, int value) {
    auto item = std::make_unique<int>(value);
    const PushResult expected = model.push(value);
    RC_ASSERT(channel.try_push(std::move(item)) == expected);
    // A refused value is untouched.
    RC_ASSERT((item == nullptr) == (expected == PushResult::ok));
}

template <class Channel>
void pop_and_compare(Channel& channel, Model& model) {
    int expected_value = 0;
    const PopResult expected = model.pop(expected_value);
    auto item = std::make_unique<int>(-1);
    RC_ASSERT(channel.try_pop(item) == expected);
    RC_ASSERT(*item == (expected == PopResult::ok ? expected_value : -1));
}

/// Each number is an operation: mostly pushes and pops in runs, so that it fills and empties.
template <class Channel>
void compare(Channel& channel, Model& model, const std::vector<unsigned char>& operations) {
    int next = 0;
    for (const unsigned char operation : operations) {
        const int times = operation % 7 + 1;
        const int kind = operation / 7 % 16;
        if (kind == 15 && operations.size() > 20) {
            channel.close();
            model.closed = true;
        }
        for (int i = 0; i < times; ++i) {
            if (kind % 2 == 0) {
                push_and_compare(channel, model, next++);
            } else {
                pop_and_compare(channel, model);
            }
        }
    }
}

RC_GTEST_PROP(ChannelModel, spsc_ring, (const std::vector<unsigned char>& operations)) {
    const std::size_t capacity = std::size_t{1} << *rc::gen::inRange(0, 5);
    SpscRing<Item> ring(capacity);
    Model model(capacity);
    compare(ring, model, operations);
    RC_ASSERT(ring.size() == model.items.size());
    RC_ASSERT(ring.empty() == model.items.empty());
    RC_ASSERT(ring.consumer_empty() == model.items.empty());
    RC_ASSERT(ring.drained() == (model.closed && model.items.empty()));
    RC_ASSERT(ring.is_valid());
}

RC_GTEST_PROP(ChannelModel, flagged_ring, (const std::vector<unsigned char>& operations)) {
    const std::size_t capacity = std::size_t{1} << *rc::gen::inRange(0, 5);
    FlaggedRing<Item> ring(capacity);
    Model model(capacity);
    compare(ring, model, operations);
    RC_ASSERT(ring.is_valid());
}

RC_GTEST_PROP(ChannelModel, unbounded_spsc, (const std::vector<unsigned char>& operations)) {
    const auto segment_capacity = static_cast<std::size_t>(*rc::gen::inRange(1, 9));
    const auto spare_segments = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
    UnboundedSpsc<Item> queue(
        {.segment_capacity = segment_capacity, .spare_segments = spare_segments});
    Model model(static_cast<std::size_t>(-1));
    compare(queue, model, operations);
    RC_ASSERT(queue.consumer_empty() == model.items.empty());
    RC_ASSERT(queue.drained() == (model.closed && model.items.empty()));
}

/// Batches: claims and peeks of any size, of which a part is committed or released.
RC_GTEST_PROP(ChannelModel, spsc_ring_in_batches, ()) {
    const std::size_t capacity = std::size_t{1} << *rc::gen::inRange(0, 5);
    SpscRing<int> ring(capacity);
    std::deque<int> model;
    int next = 0;
    const int steps = *rc::gen::inRange(0, 60);
    for (int step = 0; step < steps; ++step) {
        const auto wanted = static_cast<std::size_t>(*rc::gen::inRange(0, 40));
        const bool produce = *rc::gen::arbitrary<bool>();
        const std::span<int> part = produce ? ring.claim(wanted) : ring.peek(wanted);
        const std::size_t possible = produce ? capacity - model.size() : model.size();
        RC_ASSERT(part.size() <= std::min(wanted, possible));
        RC_ASSERT(part.empty() == (std::min(wanted, possible) == 0));
        const auto used =
            static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(part.size()) + 1));
        for (std::size_t i = 0; i < used; ++i) {
            if (produce) {
                part[i] = next;
                model.push_back(next++);
            } else {
                RC_ASSERT(part[i] == model.front());
                model.pop_front();
            }
        }
        produce ? ring.commit(used) : ring.release(used);
        RC_ASSERT(ring.size() == model.size());
        RC_ASSERT(ring.is_valid());
    }
}

}  // namespace
}  // namespace strid::channel
