// SPDX-License-Identifier: Apache-2.0
//
// The intrusive shared wrapper over each kind of memory, and a multicast under stress.
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/memory/shared_message.hpp>
#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/static_arena.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

struct Counted {
    explicit Counted(int& alive, std::string text = {}) : alive_(&alive), text_(std::move(text)) {
        if (text_ == "throw") throw std::runtime_error("refused");
        ++*alive_;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --*alive_; }
    int* alive_;
    std::string text_;
};

template <class Memory>
void last_reader_destroys(Memory& memory) {
    int alive = 0;
    auto* const message = SharedMessage<Counted, Memory>::create(memory, 3, alive, "text");
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(message->readers(), 3U);
    EXPECT_EQ(message->value().text_, "text");
    EXPECT_FALSE(message->release(1));
    EXPECT_FALSE(message->release(0));
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(message->release(1));
    EXPECT_EQ(alive, 0);
    EXPECT_THROW(
        (static_cast<void>(SharedMessage<Counted, Memory>::create(memory, 1, alive, "throw"))),
        std::runtime_error);
    EXPECT_EQ(alive, 0);
}

TEST(SharedMessage, over_each_memory_the_last_reader_destroys_it) {
    SlabAllocator slab({.lanes = 2});
    last_reader_destroys(slab);
    slab.collect();
    EXPECT_EQ(slab.counters().leased, 2U);
    EXPECT_EQ(slab.counters().out(), 0U);
    StaticArena arena({.capacity_bytes = 1024});
    last_reader_destroys(arena);
    StandardMemory standard;
    last_reader_destroys(standard);
}

TEST(SharedMessage, a_reader_handle_releases_once) {
    SlabAllocator slab({.lanes = 1});
    using Message = SharedMessage<std::string, SlabAllocator>;
    Message* const message = Message::create(slab, 2, "shared");
    {
        MessageReader first(message, 0);
        MessageReader moved(std::move(first));
        EXPECT_EQ(*moved, "shared");
        EXPECT_EQ(moved->size(), 6U);
    }
    EXPECT_EQ(message->readers(), 1U);
    MessageReader last(message, 0);
    EXPECT_EQ(last.detach(), message);
    EXPECT_TRUE(message->release(0));
    slab.collect();
    EXPECT_EQ(slab.counters().out(), 0U);
}

// The obvious implementation: which reader holds a share of which message.
template <class Memory>
void agree_with_a_model(Memory& memory, std::size_t lanes, std::mt19937_64& random) {
    using Message = SharedMessage<Counted, Memory>;
    struct Modelled {
        Message* message;
        std::uint32_t shares;
        std::string text;
    };
    int alive = 0;
    std::vector<Modelled> messages;
    for (int step = 0; step < 4'000; ++step) {
        if (messages.empty() || random() % 4 == 0) {
            const auto shares = static_cast<std::uint32_t>(1 + random() % 5);
            std::string text = "message " + std::to_string(step);
            auto* const message = Message::create(memory, shares, alive, text);
            messages.push_back({message, shares, std::move(text)});
        } else {
            std::swap(messages[random() % messages.size()], messages.back());
            Modelled& one = messages.back();
            const bool is_last = one.shares == 1;
            ASSERT_EQ(one.message->release(random() % lanes), is_last);
            if (is_last) {
                messages.pop_back();
            } else {
                --one.shares;
            }
        }
        ASSERT_EQ(alive, static_cast<int>(messages.size()));
        for (const Modelled& one : messages) {
            ASSERT_TRUE(one.message->is_valid());
            ASSERT_EQ(one.message->readers(), one.shares);
            ASSERT_EQ(std::as_const(*one.message).value().text_, one.text);
        }
    }
    for (const Modelled& one : messages) {
        for (std::uint32_t i = 0; i < one.shares; ++i) one.message->release(0);
    }
    EXPECT_EQ(alive, 0);
}

TEST(SharedMessage, agrees_with_a_model_over_each_memory) {
    std::mt19937_64 random(test::test_seed());
    SlabAllocator slab({.lanes = 3});
    agree_with_a_model(slab, 3, random);
    slab.collect();
    EXPECT_EQ(slab.counters().out(), 0U);
    StaticArena arena({.capacity_bytes = std::size_t{1} << 20});
    agree_with_a_model(arena, 1, random);
    StandardMemory standard;
    agree_with_a_model(standard, 1, random);
}

struct alignas(64) Line {
    std::uint64_t value;
};

TEST(SharedMessage, alignment_of_the_value_is_honoured) {
    SlabAllocator slab({.lanes = 1});
    auto* const message = SharedMessage<Line, SlabAllocator>::create(slab, 1, Line{7});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&message->value()) % 64, 0U);
    message->release(0);
}

TEST(SharedMessage, stress_multicast_to_three_threads) {
    const test::Watchdog watchdog;
    const std::uint64_t count = 200'000 / test::work_divisor;
    constexpr std::size_t readers = 3;
    using Message = SharedMessage<std::vector<std::uint64_t>, SlabAllocator>;
    SlabAllocator slab({.lanes = readers});
    std::vector<std::unique_ptr<channel::SpscRing<Message*>>> rings;
    std::vector<std::uint64_t> sums(readers * 8);  // a line each
    std::vector<std::thread> threads;
    for (std::size_t reader = 0; reader < readers; ++reader) {
        rings.push_back(std::make_unique<channel::SpscRing<Message*>>(64));
        threads.emplace_back([reader, &ring = *rings.back(), &sum = sums[reader * 8]] {
            Message* message = nullptr;
            for (auto result = ring.try_pop(message); result != channel::PopResult::closed;
                 result = ring.try_pop(message)) {
                if (result == channel::PopResult::ok) {
                    sum += MessageReader(message, reader)->back();
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        Message* const message = Message::create(slab, readers, std::size_t{3}, i);
        for (auto& ring : rings) {
            while (ring->try_push(message) != channel::PushResult::ok) std::this_thread::yield();
        }
    }
    for (auto& ring : rings) ring->close();
    for (std::thread& thread : threads) thread.join();
    for (std::size_t reader = 0; reader < readers; ++reader) {
        EXPECT_EQ(sums[reader * 8], count * (count - 1) / 2);
    }
    slab.collect();
    EXPECT_EQ(slab.counters().out(), 0U);
    EXPECT_TRUE(slab.is_valid());
}

}  // namespace
}  // namespace strid::memory
