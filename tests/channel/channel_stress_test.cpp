// SPDX-License-Identifier: Apache-2.0
//
// Real threads on small rings, for the thread sanitizer and for the processor's own reorderings.
// The oracle: each producer sends 1 to n, and every consumer sees each producer's numbers rise;
// together they see all of them once, by count and by sum.
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/shared_pointer_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

#include "stress.hpp"

namespace strid::channel {
namespace {

using test::Stumbler;
using test::Watchdog;

constexpr std::uint64_t items_each = test::under_thread_sanitizer ? 10'000 : 100'000;
constexpr std::uint64_t producers_max = 4;

/// An item holds its producer and its number; it owns memory, so a race on it is detected.
using Item = std::shared_ptr<std::pair<std::uint64_t, std::uint64_t>>;
Item make_item(std::uint64_t producer, std::uint64_t number) {
    return std::make_shared<std::pair<std::uint64_t, std::uint64_t>>(producer, number);
}

/// The observations of one consumer.
struct Tally {
    std::array<std::uint64_t, producers_max> last{};
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    bool in_order = true;
    void see(const Item& item) {
        const auto& [producer, number] = *item;
        in_order = in_order && number > last[producer];
        last[producer] = number;
        ++count;
        sum += number;
    }
};

void expect_all(const std::vector<Tally>& tallies, std::uint64_t producers) {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    for (const Tally& tally : tallies) {
        EXPECT_TRUE(tally.in_order);
        count += tally.count;
        sum += tally.sum;
    }
    EXPECT_EQ(count, producers * items_each);
    EXPECT_EQ(sum, producers * (items_each * (items_each + 1) / 2));
}

template <class Push, class Close>
void produce(std::uint64_t producer, std::uint64_t seed, Push push, Close close) {
    Stumbler stumbler(seed + producer);
    for (std::uint64_t number = 1; number <= items_each; ++number) {
        Item item = make_item(producer, number);
        while (push(item) == PushResult::full) std::this_thread::yield();
        stumbler.maybe_yield();
    }
    close();
}

template <class Pop>
void consume(Tally& tally, std::uint64_t seed, Pop pop) {
    Stumbler stumbler(~seed);
    while (true) {
        Item item;
        const PopResult result = pop(item);
        if (result == PopResult::closed) return;
        if (result == PopResult::ok) {
            tally.see(item);
        } else {
            std::this_thread::yield();
        }
        stumbler.maybe_yield();
    }
}

template <class Channel>
void stress_pair(const char* name, Channel& channel) {
    const std::uint64_t seed = test::stress_seed(name);
    const Watchdog watchdog;
    std::vector<Tally> tallies(1);
    std::thread producer([&] {
        produce(
            0, seed, [&](Item& item) { return channel.try_push(std::move(item)); },
            [&] { channel.close(); });
    });
    consume(tallies[0], seed, [&](Item& item) { return channel.try_pop(item); });
    producer.join();
    expect_all(tallies, 1);
}

TEST(ChannelStress, spsc_ring) {
    SpscRing<Item> ring(8);
    stress_pair("spsc_ring", ring);
}

TEST(ChannelStress, shared_pointer_ring) {
    SharedPointerRing<Item::element_type> ring(8);
    stress_pair("shared_pointer_ring", ring);
}

TEST(ChannelStress, unbounded_spsc) {
    UnboundedSpsc<Item> queue({.segment_capacity = 4, .spare_segments = 4});
    stress_pair("unbounded_spsc", queue);
}

TEST(ChannelStress, spsc_ring_in_batches_with_onlookers) {
    const std::uint64_t seed = test::stress_seed("spsc_ring_in_batches");
    const Watchdog watchdog;
    SpscRing<std::uint64_t> ring(64);
    std::atomic<bool> done{false};
    std::size_t largest = 0;
    std::thread producer([&] {
        Stumbler stumbler(seed);
        for (std::uint64_t next = 1; next <= items_each;) {
            const auto left = static_cast<std::size_t>(items_each + 1 - next);
            const auto slots = ring.claim(std::min(left, 1 + stumbler.below(40)));
            if (slots.empty()) std::this_thread::yield();
            for (auto& slot : slots) slot = next++;
            ring.commit(slots.size());
            stumbler.maybe_yield();
        }
        ring.close();
    });
    std::thread onlooker([&] {
        while (!done.load()) {
            largest = std::max(largest, ring.size());
            std::this_thread::yield();
        }
    });
    Stumbler stumbler(~seed);
    std::uint64_t expected = 1;
    bool in_order = true;
    while (!ring.drained()) {
        const auto items = ring.peek(1 + stumbler.below(40));
        if (items.empty()) std::this_thread::yield();
        for (const auto item : items) in_order = in_order && item == expected++;
        ring.release(items.size());
        stumbler.maybe_yield();
    }
    done = true;
    producer.join();
    onlooker.join();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(expected, items_each + 1);
    EXPECT_LE(largest, ring.capacity());
}

}  // namespace
}  // namespace strid::channel
