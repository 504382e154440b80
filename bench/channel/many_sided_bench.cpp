// SPDX-License-Identifier: Apache-2.0
//
// Many producers, many consumers: nanoseconds per pointer at full speed, and the time from the
// scheduled sending to the taking at 100,000 items a second (open loop), ours beside the queues of
// other libraries.
//
//   many_sided_bench [ROUNDS [ITEMS]]       default 15 rounds of 400,000 items
//
// A thread per producer and per consumer, and one for the arbiter of the mpmc_channel; a thread
// that finds nothing to do spins briefly and then yields, as there may be more threads than cores.
// Every run checks the count and the sum of what arrived.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "many_sided_queues.hpp"

namespace {

using namespace strid::bench;

constexpr double open_loop_rate = 100'000;

class Patience {
  public:
    void wait() {
        if (++tries_ % 64 == 0) {
            std::this_thread::yield();
        } else {
            strid::relax();
        }
    }

  private:
    unsigned tries_ = 0;
};

struct Taken {
    std::uint64_t sum = 0;
    std::vector<double> waits_ns = {};
};

/// `send(producer, push)` sends items of its share; `take(taken, item)` is told of each item.
/// Ends when `count` items have been taken. Returns nanoseconds from the start to then.
template <class Queue, class Send, class Take>
std::int64_t exchange(Queue& queue, std::uint64_t count, std::vector<Taken>& taken, Send send,
                      Take take) {
    std::atomic<std::uint64_t> arrived{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    const auto wait_for_start = [&go] {
        // acquire: pairs with the release below.
        while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
    };
    for (std::size_t i = 0; i < Queue::producers; ++i) {
        threads.emplace_back([&, i] {
            wait_for_start();
            Patience patience;
            send(i, [&](std::uint64_t number) {
                while (!queue.push(i, as_pointer(number))) patience.wait();
            });
        });
    }
    for (std::size_t j = 0; j < Queue::consumers; ++j) {
        threads.emplace_back([&, j] {
            wait_for_start();
            Patience patience;
            std::uint64_t unsaid = 0;  // taken, but not counted in `arrived` yet
            Taken mine;
            while (true) {
                void* item = nullptr;
                if (queue.pop(j, item)) {
                    ++unsaid;
                    take(mine, as_number(item));
                    continue;
                }
                arrived.fetch_add(std::exchange(unsaid, 0), std::memory_order_relaxed);
                if (arrived.load(std::memory_order_relaxed) == count) break;
                patience.wait();
            }
            taken[j] = std::move(mine);
        });
    }
    if constexpr (requires { queue.step(); }) {
        threads.emplace_back([&] {
            wait_for_start();
            Patience patience;
            while (arrived.load(std::memory_order_relaxed) != count) {
                if (!queue.step()) patience.wait();
            }
        });
    }
    const std::int64_t begin_ns = strid::now_ns();
    go.store(true, std::memory_order_release);  // pairs with the acquire above
    for (std::thread& thread : threads) thread.join();
    return strid::now_ns() - begin_ns;
}

template <class Queue>
double full_speed_ns(std::uint64_t count) {
    const auto queue = std::make_unique<Queue>();
    const std::uint64_t share = count / Queue::producers;
    std::vector<Taken> taken(Queue::consumers);
    const auto spent_ns = exchange(
        *queue, share * Queue::producers, taken,
        [share](std::size_t i, auto push) {
            for (std::uint64_t n = 1; n <= share; ++n) push(i * share + n);
        },
        [](Taken& mine, std::uint64_t number) { mine.sum += number; });
    std::uint64_t sum = 0;
    for (const Taken& one : taken) sum += one.sum;
    check_sum(sum, share * Queue::producers);
    return static_cast<double>(spent_ns) / static_cast<double>(share * Queue::producers);
}

/// Items are the times at which they were due.
template <class Queue>
Latency open_loop(std::uint64_t count) {
    const auto queue = std::make_unique<Queue>();
    const std::uint64_t share = count / Queue::producers;
    const auto step_ns = static_cast<std::int64_t>(1e9 / open_loop_rate * Queue::producers);
    std::vector<Taken> taken(Queue::consumers);
    std::atomic<std::uint64_t> sent{0};
    (void)exchange(
        *queue, share * Queue::producers, taken,
        [share, step_ns, &sent](std::size_t i, auto push) {
            const auto first_ns = strid::now_ns() + static_cast<std::int64_t>(i) * step_ns / 2;
            std::uint64_t sum = 0;
            for (std::uint64_t n = 0; n < share; ++n) {
                const std::int64_t due_ns = first_ns + static_cast<std::int64_t>(n) * step_ns;
                while (strid::now_ns() < due_ns) std::this_thread::yield();
                push(static_cast<std::uint64_t>(due_ns));
                sum += static_cast<std::uint64_t>(due_ns);
            }
            sent.fetch_add(sum, std::memory_order_relaxed);
        },
        [](Taken& mine, std::uint64_t due_ns) {
            mine.sum += due_ns;
            mine.waits_ns.push_back(
                static_cast<double>(strid::now_ns() - static_cast<std::int64_t>(due_ns)));
        });
    std::vector<double> waits_ns;
    std::uint64_t sum = 0;
    for (const Taken& one : taken) {
        sum += one.sum;
        waits_ns.insert(waits_ns.end(), one.waits_ns.begin(), one.waits_ns.end());
    }
    if (sum != sent.load() || waits_ns.size() != share * Queue::producers) {
        throw std::runtime_error("a queue lost or changed items");
    }
    return {quantile(waits_ns, 0.5), quantile(waits_ns, 0.99)};
}

template <class Queue>
void add(std::vector<Contestant>& all, std::uint64_t items) {
    all.push_back({fmt::format("{}, {} to {}", Queue::name, Queue::producers, Queue::consumers), 1,
                   false, [items] { return full_speed_ns<Queue>(items); },
                   [items] { return open_loop<Queue>(items / 40 + Queue::producers); }});
}

template <std::size_t producers, std::size_t consumers>
void add_all(std::vector<Contestant>& all, std::uint64_t items) {
    if constexpr (consumers == 1) add<StridMpsc<producers>>(all, items);
    if constexpr (producers == 1) add<StridSpmc<consumers>>(all, items);
    add<StridMpmc<producers, consumers>>(all, items);
#if defined(STRID_BENCH_CONCURRENTQUEUE)
    add<MoodycamelMany<producers, consumers>>(all, items);
#endif
#if defined(STRID_BENCH_TBB)
    add<TbbMany<producers, consumers>>(all, items);
#endif
}

}  // namespace

int main(int argc, char** argv) try {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
    const std::uint64_t items = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 400'000;
    if (rounds <= 0 || items == 0) {
        std::fprintf(stderr, "usage: many_sided_bench [ROUNDS [ITEMS]]\n");
        return 2;
    }
    std::vector<Contestant> all;
    add_all<1, 1>(all, items);
    add_all<2, 1>(all, items);
    add_all<1, 2>(all, items);
    add_all<2, 2>(all, items);
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& one : all) one.measure();
    }
    std::printf("Many producers, many consumers; latency at 100,000 items/s, open loop:\n\n");
    print_table(all, "open loop");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "many_sided_bench: %s\n", error.what());
    return 1;
}
