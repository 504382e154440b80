// SPDX-License-Identifier: Apache-2.0
//
// The channels with many producers or consumers that are measured, each behind the same adapter:
// `push(i, void*)` for producer i and `pop(j, void*&)` for consumer j answer whether they did it,
// and `step()`, where there is one, is the arbiter's. All that are bounded hold 16,384 pointers a
// lane, or in all where there are no lanes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <strid/channel/mpmc_channel.hpp>

#include "queues.hpp"

#if defined(STRID_BENCH_TBB)
#include <tbb/concurrent_queue.h>
#endif

namespace strid::bench {

template <std::size_t Producers>
struct StridMpsc {
    static constexpr const char* name = "strid mpsc_channel";
    static constexpr std::size_t producers = Producers;
    static constexpr std::size_t consumers = 1;
    channel::MpscChannel<void*> channel{{.producers = producers, .lane_capacity = queue_capacity}};
    bool push(std::size_t i, void* item) { return is_ok(channel.try_push(i, item)); }
    bool pop(std::size_t, void*& item) { return is_ok(channel.try_pop(item)); }
};

template <std::size_t Consumers>
struct StridSpmc {
    static constexpr const char* name = "strid spmc_channel";
    static constexpr std::size_t producers = 1;
    static constexpr std::size_t consumers = Consumers;
    channel::SpmcChannel<void*> channel{{.consumers = consumers, .lane_capacity = queue_capacity}};
    bool push(std::size_t, void* item) { return is_ok(channel.try_push(item)); }
    bool pop(std::size_t j, void*& item) { return is_ok(channel.try_pop(j, item)); }
};

template <std::size_t Producers, std::size_t Consumers>
struct StridMpmc {
    static constexpr const char* name = "strid mpmc_channel";
    static constexpr std::size_t producers = Producers;
    static constexpr std::size_t consumers = Consumers;
    channel::MpmcChannel<void*> channel{
        {.producers = producers, .consumers = consumers, .lane_capacity = queue_capacity}};
    bool push(std::size_t i, void* item) { return is_ok(channel.try_push(i, item)); }
    bool pop(std::size_t j, void*& item) { return is_ok(channel.try_pop(j, item)); }
    bool step() { return channel.step(256) == channel::ArbiterResult::progressed; }
};

#if defined(STRID_BENCH_CONCURRENTQUEUE)
template <std::size_t Producers, std::size_t Consumers>
struct MoodycamelMany {
    static constexpr const char* name = "moodycamel ConcurrentQueue";
    static constexpr std::size_t producers = Producers;
    static constexpr std::size_t consumers = Consumers;
    moodycamel::ConcurrentQueue<void*> queue{queue_capacity};
    std::vector<moodycamel::ProducerToken> entrances;
    std::vector<moodycamel::ConsumerToken> exits;

    MoodycamelMany() {
        for (std::size_t i = 0; i < producers; ++i) entrances.emplace_back(queue);
        for (std::size_t j = 0; j < consumers; ++j) exits.emplace_back(queue);
    }
    bool push(std::size_t i, void* item) { return queue.enqueue(entrances[i], item); }
    bool pop(std::size_t j, void*& item) { return queue.try_dequeue(exits[j], item); }
};
#endif

#if defined(STRID_BENCH_TBB)
template <std::size_t Producers, std::size_t Consumers>
struct TbbMany {
    static constexpr const char* name = "oneTBB bounded_queue";
    static constexpr std::size_t producers = Producers;
    static constexpr std::size_t consumers = Consumers;
    tbb::concurrent_bounded_queue<void*> queue;

    TbbMany() { queue.set_capacity(static_cast<std::ptrdiff_t>(queue_capacity)); }
    bool push(std::size_t, void* item) { return queue.try_push(item); }
    bool pop(std::size_t, void*& item) { return queue.try_pop(item); }
};
#endif

}  // namespace strid::bench
