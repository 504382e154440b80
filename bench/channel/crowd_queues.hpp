// SPDX-License-Identifier: Apache-2.0
//
// The queues of several producers or consumers behind the adapter that crowd.hpp describes: ours,
// and those of other libraries where their headers are found. All that are bounded hold 16,384
// pointers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <boost/lockfree/queue.hpp>

#include <strid/channel/queue.hpp>

#if __has_include(<concurrentqueue/concurrentqueue.h>)
#define STRID_BENCH_CONCURRENTQUEUE 1
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>
#endif
#if __has_include(<atomic_queue/atomic_queue.h>)
#define STRID_BENCH_ATOMIC_QUEUE 1
#include <atomic_queue/atomic_queue.h>
#endif
#if __has_include(<ff/mpmc/MPMCqueues.hpp>)
#define STRID_BENCH_FASTFLOW 1
#include <ff/mpmc/MPMCqueues.hpp>
#endif

namespace strid::bench {

inline constexpr std::size_t crowd_capacity = 16'384;

/// `Queue` is one of Strid's, with any construction.
template <class Queue, channel::Waiting waiting>
class StridCrowd {
    struct Producer {
        typename Queue::Producer handle;
        bool push(void* pointer) {
            return handle.try_push(std::move(pointer)) == channel::PushResult::ok;
        }
        std::size_t push_batch(void** items, std::size_t count) {
            return handle.try_push_batch(std::span<void*>(items, count)).count;
        }
    };
    struct Consumer {
        typename Queue::Consumer handle;
        bool pop(void*& pointer) { return handle.try_pop(pointer) == channel::PopResult::ok; }
        std::size_t pop_batch(void** items, std::size_t count) {
            return handle.try_pop_batch(std::span<void*>(items, count)).count;
        }
    };

  public:
    StridCrowd(std::size_t producers, std::size_t consumers)
        : queue_({.capacity = crowd_capacity,
                  .producers = producers,
                  .consumers = consumers,
                  .waiting = waiting}) {}
    Producer producer() { return {queue_.producer()}; }
    Consumer consumer() { return {queue_.consumer()}; }

  private:
    Queue queue_;
};

/// Peers without handles: a reference to the queue.
template <class Queue>
struct Shared {
    Queue* queue;
    bool push(void* pointer) { return queue->push(pointer); }
    bool pop(void*& pointer) { return queue->pop(pointer); }
};

struct BoostCrowd {
    BoostCrowd(std::size_t, std::size_t) {}
    Shared<BoostCrowd> producer() { return {this}; }
    Shared<BoostCrowd> consumer() { return {this}; }
    bool push(void* pointer) { return queue.push(pointer); }
    bool pop(void*& pointer) { return queue.pop(pointer); }
    boost::lockfree::queue<void*, boost::lockfree::capacity<crowd_capacity>> queue;
};

#if defined(STRID_BENCH_CONCURRENTQUEUE)
template <class Queue>
class MoodycamelCrowd {
    struct Producer {
        Queue* queue;
        moodycamel::ProducerToken token{*queue};
        bool push(void* pointer) { return queue->enqueue(token, pointer); }
        std::size_t push_batch(void** items, std::size_t count) {
            return queue->enqueue_bulk(token, items, count) ? count : 0;
        }
    };
    struct Consumer {
        Queue* queue;
        moodycamel::ConsumerToken token{*queue};
        bool pop(void*& pointer) { return queue->try_dequeue(token, pointer); }
        std::size_t pop_batch(void** items, std::size_t count) {
            return queue->try_dequeue_bulk(token, items, count);
        }
    };

  public:
    MoodycamelCrowd(std::size_t, std::size_t) {}
    Producer producer() { return {&queue_}; }
    Consumer consumer() { return {&queue_}; }

  private:
    Queue queue_{crowd_capacity};
};
#endif

#if defined(STRID_BENCH_ATOMIC_QUEUE)
struct AtomicQueueCrowd {
    AtomicQueueCrowd(std::size_t, std::size_t) {}
    Shared<AtomicQueueCrowd> producer() { return {this}; }
    Shared<AtomicQueueCrowd> consumer() { return {this}; }
    bool push(void* pointer) { return queue.try_push(pointer); }
    bool pop(void*& pointer) { return queue.try_pop(pointer); }
    atomic_queue::AtomicQueue<void*, crowd_capacity> queue;
};
#endif

#if defined(STRID_BENCH_FASTFLOW)
/// `Queue` is FastFlow's bounded or unbounded queue of many producers and consumers.
template <class Queue>
struct FastFlowCrowd {
    FastFlowCrowd(std::size_t, std::size_t) {
        if constexpr (requires { queue.init(crowd_capacity); }) {
            queue.init(crowd_capacity);
        } else {
            queue.init();
        }
    }
    Shared<FastFlowCrowd> producer() { return {this}; }
    Shared<FastFlowCrowd> consumer() { return {this}; }
    bool push(void* pointer) { return queue.push(pointer); }
    bool pop(void*& pointer) { return queue.pop(&pointer); }
    Queue queue;
};
#endif

}  // namespace strid::bench
