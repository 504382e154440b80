// SPDX-License-Identifier: Apache-2.0
//
// Reused memory: its size classes; that pieces are whole and disjoint whichever threads allocate
// and free them; threads that end while others continue.
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/memory/recycling.hpp>

#include "../support/seeds.hpp"

namespace strid::memory {
namespace {

using Bytes = std::vector<std::uint8_t, RecyclingAllocator<std::uint8_t>>;

TEST(Recycling, classes_are_those_of_slabs_and_go_on) {
    for (std::size_t bytes = 0; bytes <= SizeClasses::bytes_max; ++bytes) {
        ASSERT_EQ(detail::size_class_index(bytes), SizeClasses::index_of(bytes)) << bytes;
    }
    for (std::size_t index = SizeClasses::count; index != detail::recycled_classes; ++index) {
        const std::size_t bytes = detail::size_class_bytes(index);
        ASSERT_EQ(detail::size_class_index(bytes), index);
        ASSERT_EQ(detail::size_class_index(bytes + 1), index + 1);
    }
}

/// Bytes that are all equal, and their number.
Bytes filled(std::mt19937_64& random) {
    const std::size_t magnitude = std::size_t{1} << random() % 17;  // over that of a chain, too
    const std::size_t count = 1 + random() % magnitude;
    return Bytes(count, static_cast<std::uint8_t>(count * 37));
}
bool is_whole(const Bytes& bytes) {
    for (const std::uint8_t byte : bytes) {
        if (byte != static_cast<std::uint8_t>(bytes.size() * 37)) return false;
    }
    return true;
}

/// Lists come and go, among them lists of threads that have ended.
void come_and_go(std::uint64_t seed, int rounds) {
    std::mt19937_64 random{seed};
    std::deque<Bytes> live;
    for (int round = 0; round < rounds; ++round) {
        if (live.size() < 40 || random() % 2 == 0) live.push_back(filled(random));
        if (random() % 2 != 0) {
            std::swap(live.front(), live[random() % live.size()]);
            EXPECT_TRUE(is_whole(live.front()));
            live.pop_front();
        }
    }
    for (const Bytes& bytes : live) EXPECT_TRUE(is_whole(bytes));
}

TEST(Recycling, pieces_are_whole_and_apart) {
    for (const std::uint64_t seed : test::seeds(5)) {
        come_and_go(seed, 2'000);  // pieces beyond a thread's room are not kept
        const RecyclingScope scope;
        come_and_go(seed, 2'000);
    }
}

TEST(Recycling, what_one_thread_fills_another_lets_go_of) {
    constexpr int lists = 20'000;
    for (const std::uint64_t seed : test::seeds(2)) {
        const RecyclingScope scope;
        channel::SpscRing<Bytes*> ring{64};
        std::thread giving([&] {
            std::mt19937_64 random{seed};
            for (int i = 0; i < lists; ++i) {
                Bytes* const bytes = new Bytes(filled(random));
                while (ring.try_push(bytes) != channel::PushResult::ok) std::this_thread::yield();
            }
        });
        std::thread beside([&] {
            for (int thread = 0; thread < 20; ++thread) {
                std::thread([&] { come_and_go(seed + 1, 300); }).join();
            }
        });
        for (int i = 0; i < lists; ++i) {
            Bytes* bytes = nullptr;
            while (ring.try_pop(bytes) != channel::PopResult::ok) std::this_thread::yield();
            ASSERT_TRUE(is_whole(*bytes));
            delete bytes;
        }
        giving.join();
        beside.join();
    }
}

}  // namespace
}  // namespace strid::memory
