// SPDX-License-Identifier: Apache-2.0
//
// Moving pointers from one core to another, measured: the same two loops for every queue.
//
// A queue takes part through an adapter with `push(void*)` and `pop(void*&)`, both answering
// whether they did it, and, where it has a form for batches, `push_batch(first, count)` and
// `take_batch(count, sum)`, both answering how many. The pointers carry the numbers 1 to n, never
// null (some peers keep null for themselves), and every run checks their sum.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include <strid/base/clock.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/relax.hpp>

#include "../statistics.hpp"

namespace strid::bench {

/// Binds the calling thread to one core; -1 leaves it alone.
inline void pin_to_core(int core) {
    if (core < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
        throw std::runtime_error("cannot pin a thread to core " + std::to_string(core));
    }
}

struct Cores {
    int producer = 0;
    int consumer = 1;
};

inline void* as_pointer(std::uint64_t number) noexcept {
    return reinterpret_cast<void*>(number);
}
inline std::uint64_t as_number(void* pointer) noexcept {
    return reinterpret_cast<std::uint64_t>(pointer);
}

/// Runs `produce` and `consume` on a thread each, from a common start to the end of `consume`;
/// nanoseconds between. The caller sleeps meanwhile.
template <class Produce, class Consume>
std::int64_t time_pair_ns(Cores cores, Produce produce, Consume consume) {
    std::atomic<int> ready{0};
    const auto meet = [&ready](int core) {
        pin_to_core(core);
        ready.fetch_add(1);
        while (ready.load() != 2) relax();
    };
    std::int64_t spent_ns = 0;
    std::thread producer([&] {
        meet(cores.producer);
        produce();
    });
    std::thread consumer([&] {
        meet(cores.consumer);
        const std::int64_t begin_ns = now_ns();
        consume();
        spent_ns = now_ns() - begin_ns;
    });
    producer.join();
    consumer.join();
    return spent_ns;
}

inline void check_sum(std::uint64_t sum, std::uint64_t count) {
    if (sum != count * (count + 1) / 2) throw std::runtime_error("a queue lost or changed items");
}

/// One at a time. Returns nanoseconds per item.
template <class Queue>
double transfer_ns(Cores cores, Queue& queue, std::uint64_t count) {
    std::uint64_t sum = 0;
    const auto ns = time_pair_ns(
        cores,
        [&queue, count] {
            for (std::uint64_t i = 1; i <= count; ++i) {
                while (!queue.push(as_pointer(i))) relax();
            }
        },
        [&queue, count, &sum] {
            std::uint64_t total = 0;
            for (std::uint64_t i = 0; i < count; ++i) {
                void* pointer = nullptr;
                while (!queue.pop(pointer)) relax();
                total += as_number(pointer);
            }
            sum = total;
        });
    check_sum(sum, count);
    return static_cast<double>(ns) / static_cast<double>(count);
}

/// In batches of at most `batch`. Returns nanoseconds per item.
template <class Queue>
double transfer_batches_ns(Cores cores, Queue& queue, std::uint64_t count, std::size_t batch) {
    std::uint64_t sum = 0;
    const auto ns = time_pair_ns(
        cores,
        [&queue, count, batch] {
            for (std::uint64_t next = 1; next <= count;) {
                const auto wanted = std::min<std::uint64_t>(batch, count + 1 - next);
                const std::size_t done = queue.push_batch(next, wanted);
                if (done == 0) relax();
                next += done;
            }
        },
        [&queue, count, batch, &sum] {
            std::uint64_t total = 0;
            for (std::uint64_t taken = 0; taken < count;) {
                const std::size_t done = queue.take_batch(batch, total);
                if (done == 0) relax();
                taken += done;
            }
            sum = total;
        });
    check_sum(sum, count);
    return static_cast<double>(ns) / static_cast<double>(count);
}

struct Latency {
    double p50_ns = 0;
    double p99_ns = 0;
};

/// A queue one at a time, in the form of batches of one.
template <class Queue>
struct OneAtATime {
    Queue queue;
    std::size_t push_batch(std::uint64_t first, std::size_t) {
        return queue.push(as_pointer(first)) ? 1 : 0;
    }
    std::size_t take_batch(std::size_t, std::uint64_t& sum) {
        void* pointer = nullptr;
        if (!queue.pop(pointer)) return 0;
        sum += as_number(pointer);
        return 1;
    }
};

/// Batches there through one queue and back through the other of the same kind, `trips` times, the
/// queues empty in between: how long a message takes, where the rates above say how many there can
/// be.
template <class Queue>
Latency round_trips(Cores cores, std::uint64_t trips, std::size_t batch) {
    const auto there = std::make_unique<Queue>();
    const auto back = std::make_unique<Queue>();
    const auto send = [batch](Queue& queue, std::uint64_t first) {
        for (std::size_t sent = 0; sent != batch;) {
            const std::size_t done = queue.push_batch(first + sent, batch - sent);
            if (done == 0) relax();
            sent += done;
        }
    };
    const auto receive = [batch](Queue& queue, std::uint64_t& sum) {
        for (std::size_t taken = 0; taken != batch;) {
            const std::size_t done = queue.take_batch(batch - taken, sum);
            if (done == 0) relax();
            taken += done;
        }
    };
    std::vector<double> samples_ns(trips);
    std::uint64_t sum_there = 0;
    std::uint64_t sum_back = 0;
    (void)time_pair_ns(
        cores,
        [&] {
            for (std::uint64_t trip = 0; trip < trips; ++trip) {
                receive(*there, sum_there);
                send(*back, trip * batch + 1);
            }
        },
        [&] {
            for (std::uint64_t trip = 0; trip < trips; ++trip) {
                const std::int64_t begin_ns = now_ns();
                send(*there, trip * batch + 1);
                receive(*back, sum_back);
                samples_ns[trip] = static_cast<double>(now_ns() - begin_ns);
            }
        });
    check_sum(sum_there, trips * batch);
    check_sum(sum_back, trips * batch);
    return {quantile(samples_ns, 0.5), quantile(samples_ns, 0.99)};
}

/// A word thrown back and forth between two cores: nanoseconds per round trip. The floor under
/// every queue's latency, and the unit to compare machines by.
inline double ping_pong_ns(Cores cores, std::uint64_t rounds) {
    struct alignas(2 * cache_line_bytes) Word {
        std::atomic<std::uint64_t> value{0};
    };
    Word ball;
    Word echo;
    const auto ns = time_pair_ns(
        cores,
        [&] {
            for (std::uint64_t i = 1; i <= rounds; ++i) {
                // acquire: pairs with the release on `ball` below; release: with the acquire there.
                while (ball.value.load(std::memory_order_acquire) != i) relax();
                echo.value.store(i, std::memory_order_release);
            }
        },
        [&] {
            for (std::uint64_t i = 1; i <= rounds; ++i) {
                // release and acquire: pair with the other player's acquire and release.
                ball.value.store(i, std::memory_order_release);
                while (echo.value.load(std::memory_order_acquire) != i) relax();
            }
        });
    return static_cast<double>(ns) / static_cast<double>(rounds);
}

}  // namespace strid::bench
