// SPDX-License-Identifier: Apache-2.0
//
// The queues that are measured, each behind the adapter that transfer.hpp describes: ours, and
// those of other libraries where their headers are found. All that are bounded hold 16,384
// pointers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/lockfree/spsc_queue.hpp>

#include <strid/engine/channel/shared_pointer_ring.hpp>

#include "strid_queues.hpp"
#include "transfer.hpp"

#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#define STRID_BENCH_READERWRITERQUEUE 1
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#if __has_include(<concurrentqueue/concurrentqueue.h>)
#define STRID_BENCH_CONCURRENTQUEUE 1
#include <concurrentqueue/concurrentqueue.h>
#endif
#if __has_include(<atomic_queue/atomic_queue.h>)
#define STRID_BENCH_ATOMIC_QUEUE 1
#include <atomic_queue/atomic_queue.h>
#endif

namespace strid::bench {

inline constexpr std::size_t batch_max = 256;

struct StridFlagged {
    static constexpr const char* name = "strid flagged_ring";
    channel::FlaggedRing<void*> queue{queue_capacity};
    bool push(void* pointer) { return is_ok(queue.try_push(pointer)); }
    bool pop(void*& pointer) { return is_ok(queue.try_pop(pointer)); }
};

struct BoostSpsc {
    static constexpr const char* name = "boost::lockfree spsc_queue";
    boost::lockfree::spsc_queue<void*, boost::lockfree::capacity<queue_capacity>> queue;
    bool push(void* pointer) { return queue.push(pointer); }
    bool pop(void*& pointer) { return queue.pop(pointer); }
    std::size_t push_batch(std::uint64_t first, std::size_t count) {
        std::array<void*, batch_max> items;
        for (std::size_t i = 0; i < count; ++i) items[i] = as_pointer(first + i);
        return queue.push(items.data(), count);
    }
    std::size_t take_batch(std::size_t count, std::uint64_t& sum) {
        std::array<void*, batch_max> items;
        const std::size_t taken = queue.pop(items.data(), count);
        for (std::size_t i = 0; i < taken; ++i) sum += as_number(items[i]);
        return taken;
    }
};

#if defined(STRID_BENCH_READERWRITERQUEUE)
struct MoodycamelUnbounded {
    static constexpr const char* name = "moodycamel ReaderWriterQueue";
    moodycamel::ReaderWriterQueue<void*> queue{queue_capacity};
    bool push(void* pointer) { return queue.enqueue(pointer); }
    bool pop(void*& pointer) { return queue.try_dequeue(pointer); }
};

/// The same without growing: refuses when its blocks are full.
struct MoodycamelTry {
    static constexpr const char* name = "moodycamel try_enqueue";
    moodycamel::ReaderWriterQueue<void*> queue{queue_capacity};
    bool push(void* pointer) { return queue.try_enqueue(pointer); }
    bool pop(void*& pointer) { return queue.try_dequeue(pointer); }
};

struct MoodycamelCircular {
    static constexpr const char* name = "moodycamel circular buffer";
    moodycamel::BlockingReaderWriterCircularBuffer<void*> queue{queue_capacity};
    bool push(void* pointer) { return queue.try_enqueue(pointer); }
    bool pop(void*& pointer) { return queue.try_dequeue(pointer); }
};
#endif

#if defined(STRID_BENCH_CONCURRENTQUEUE)
struct MoodycamelConcurrent {
    static constexpr const char* name = "moodycamel ConcurrentQueue";
    moodycamel::ConcurrentQueue<void*> queue{queue_capacity};
    moodycamel::ProducerToken producer{queue};
    moodycamel::ConsumerToken consumer{queue};
    bool push(void* pointer) { return queue.enqueue(producer, pointer); }
    bool pop(void*& pointer) { return queue.try_dequeue(consumer, pointer); }
    std::size_t push_batch(std::uint64_t first, std::size_t count) {
        std::array<void*, batch_max> items;
        for (std::size_t i = 0; i < count; ++i) items[i] = as_pointer(first + i);
        return queue.enqueue_bulk(producer, items.data(), count) ? count : 0;
    }
    std::size_t take_batch(std::size_t count, std::uint64_t& sum) {
        std::array<void*, batch_max> items;
        const std::size_t taken = queue.try_dequeue_bulk(consumer, items.data(), count);
        for (std::size_t i = 0; i < taken; ++i) sum += as_number(items[i]);
        return taken;
    }
};
#endif

#if defined(STRID_BENCH_ATOMIC_QUEUE)
struct AtomicQueueSpsc {
    static constexpr const char* name = "atomic_queue (spsc)";
    // Element, capacity, the empty value, minimise contention, maximise throughput, total order,
    // one producer and one consumer.
    atomic_queue::AtomicQueue<void*, queue_capacity, nullptr, true, true, false, true> queue;
    bool push(void* pointer) { return queue.try_push(pointer); }
    bool pop(void*& pointer) { return queue.try_pop(pointer); }
};
#endif

}  // namespace strid::bench
