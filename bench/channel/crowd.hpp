// SPDX-License-Identifier: Apache-2.0
//
// Moving pointers through a queue of several producers or consumers, measured: the same loops for
// every queue.
//
// A queue takes part through an adapter with `producer()` and `consumer()`, whose results have
// `push(void*)` and `pop(void*&)`, both answering whether they did it, and, where it has a form for
// batches, `push_batch(void**, count)` and `pop_batch(void**, count)`, both answering how many. The
// pointers carry numbers that every run adds up and checks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "transfer.hpp"

namespace strid::bench {

inline constexpr std::size_t crowd_batch = 64;

struct Crowd {
    std::size_t producers = 1;
    std::size_t consumers = 1;
    std::size_t batch = 1;
    std::uint64_t count = 0;  ///< items of each producer
    bool pins = false;        ///< producer and consumer to a core each, where there is one of both
};

/// Looks again soon, and lets other threads run after a while: there may be more than cores.
class Patience {
  public:
    void fail() {
        if (++fails_ % 64 == 0) {
            std::this_thread::yield();
        } else {
            relax();
        }
    }

  private:
    unsigned fails_ = 0;
};

template <class Producer>
void push_all(Producer& producer, const Crowd& crowd) {
    Patience patience;
    if (crowd.batch == 1) {
        for (std::uint64_t i = 1; i <= crowd.count; ++i) {
            while (!producer.push(as_pointer(i))) patience.fail();
        }
        return;
    }
    if constexpr (requires { producer.push_batch(nullptr, 0); }) {
        std::array<void*, crowd_batch> items{};
        for (std::uint64_t next = 1; next <= crowd.count;) {
            const auto count = std::min<std::uint64_t>(crowd.batch, crowd.count + 1 - next);
            for (std::uint64_t i = 0; i < count; ++i) items[i] = as_pointer(next + i);
            for (std::size_t done = 0; done < count;) {
                const std::size_t pushed = producer.push_batch(items.data() + done, count - done);
                if (pushed == 0) patience.fail();
                done += pushed;
            }
            next += count;
        }
    }
}

/// Until all consumers together have taken `total`. The sum of what this one took.
template <class Consumer>
std::uint64_t pop_all(Consumer& consumer, std::size_t batch, std::atomic<std::uint64_t>& taken,
                      std::uint64_t total) {
    Patience patience;
    std::array<void*, crowd_batch> items{};
    std::uint64_t sum = 0;
    std::uint64_t unreported = 0;
    while (true) {
        std::size_t count = 0;
        if (batch == 1) {
            count = consumer.pop(items[0]) ? 1 : 0;
        } else if constexpr (requires { consumer.pop_batch(nullptr, 0); }) {
            count = consumer.pop_batch(items.data(), batch);
        }
        for (std::size_t i = 0; i < count; ++i) sum += as_number(items[i]);
        unreported += count;
        if (count != 0) continue;
        // relaxed: only the number counts.
        if (unreported != 0)
            taken.fetch_add(std::exchange(unreported, 0), std::memory_order_relaxed);
        if (taken.load(std::memory_order_relaxed) == total) return sum;
        patience.fail();
    }
}

/// Nanoseconds for each item, from the first thread that begins to the last one that ends; all wait
/// for each other before.
template <class Queue>
double crowd_ns(const Crowd& crowd) {
    const auto queue = std::make_unique<Queue>(crowd.producers, crowd.consumers);
    const std::uint64_t total = crowd.producers * crowd.count;
    const std::size_t all = crowd.producers + crowd.consumers;
    std::atomic<std::size_t> ready{0};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::pair<std::int64_t, std::int64_t>> spans_ns(all);
    const auto timed = [&](std::size_t thread, int core, auto work) {
        pin_to_core(core);
        ready.fetch_add(1);
        while (ready.load() != all) std::this_thread::yield();
        spans_ns[thread].first = now_ns();
        work();
        spans_ns[thread].second = now_ns();
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < crowd.producers; ++i) {
        threads.emplace_back([&, i, producer = queue->producer()]() mutable {
            timed(i, crowd.pins ? 0 : -1, [&] { push_all(producer, crowd); });
        });
    }
    for (std::size_t i = crowd.producers; i < all; ++i) {
        threads.emplace_back([&, i, consumer = queue->consumer()]() mutable {
            timed(i, crowd.pins ? 1 : -1,
                  [&] { sum.fetch_add(pop_all(consumer, crowd.batch, taken, total)); });
        });
    }
    for (std::thread& thread : threads) thread.join();
    if (sum.load() != crowd.producers * (crowd.count * (crowd.count + 1) / 2)) {
        throw std::runtime_error("a queue lost or changed items");
    }
    std::int64_t begin_ns = spans_ns.front().first;
    std::int64_t end_ns = 0;
    for (const auto& [from_ns, to_ns] : spans_ns) {
        begin_ns = std::min(begin_ns, from_ns);
        end_ns = std::max(end_ns, to_ns);
    }
    return static_cast<double>(end_ns - begin_ns) / static_cast<double>(total);
}

}  // namespace strid::bench
