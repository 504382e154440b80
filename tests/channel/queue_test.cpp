// SPDX-License-Identifier: Apache-2.0
//
// The public queues: case by case in one thread, and all kinds with real threads on small rings,
// for the thread sanitizer and for the processor's own reorderings. The oracle of those: each
// producer sends 1 to n, every consumer sees each producer's numbers rise, and together they see
// all of them once, by count and by sum.
#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/channel/queue.hpp>

#include "stress.hpp"

namespace strid::channel {
namespace {

using test::Stumbler;

/// Producer and number; it owns memory, so a lost or doubled one is a leak or a double free too.
using Item = std::unique_ptr<std::pair<std::size_t, std::uint64_t>>;

constexpr std::uint64_t items_each = test::under_thread_sanitizer ? 2'000 : 20'000;
constexpr std::size_t many = 3;

struct Seen {
    std::array<std::uint64_t, many> last{};
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    bool in_order = true;
    void see(const Item& item) {
        const auto& [producer, number] = *item;
        in_order = in_order && number > std::exchange(last.at(producer), number);
        ++count;
        sum += number;
    }
};

/// Half of the producers and consumers use batches.
template <class Queue>
void stress(const char* name, QueueOptions options) {
    const std::uint64_t seed = test::stress_seed(name);
    const test::Watchdog watchdog;
    Queue queue(options);
    std::vector<Seen> seen(options.consumers);
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < options.producers; ++p) {
        threads.emplace_back([p, seed, producer = queue.producer()]() mutable {
            Stumbler stumbler(seed + p);
            for (std::uint64_t next = 1; next <= items_each;) {
                std::vector<Item> batch(p % 2 == 0 ? 1 : 1 + stumbler.below(20));
                std::size_t count = 0;
                for (; count < batch.size() && next <= items_each; ++count) {
                    batch[count] = std::make_unique<Item::element_type>(p, next++);
                }
                if (p % 2 == 0) {
                    EXPECT_EQ(producer.push(std::move(batch[0])), PushResult::ok);
                } else {
                    EXPECT_EQ(producer.push_batch(std::span(batch).first(count)).count, count);
                }
                stumbler.maybe_yield();
            }
            producer.close();
            EXPECT_EQ(producer.try_push(nullptr), PushResult::closed);
        });
    }
    for (std::size_t c = 0; c < options.consumers; ++c) {
        threads.emplace_back([c, seed, &seen, consumer = queue.consumer()]() mutable {
            Stumbler stumbler(~seed + c);
            std::vector<Item> items(c % 2 == 0 ? 1 : 20);
            while (true) {
                std::size_t count = 1;
                if (c % 2 == 0) {
                    if (consumer.pop(items[0]) != PopResult::ok) return;
                } else {
                    count = consumer.pop_batch(items).count;
                    if (count == 0) return;
                }
                for (std::size_t i = 0; i < count; ++i) seen[c].see(items[i]);
                stumbler.maybe_yield();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    for (const Seen& one : seen) {
        EXPECT_TRUE(one.in_order) << name;
        count += one.count;
        sum += one.sum;
    }
    EXPECT_EQ(count, options.producers * items_each) << name;
    EXPECT_EQ(sum, options.producers * (items_each * (items_each + 1) / 2)) << name;
}

template <Bound bound, Construction construction>
void stress_all(const char* name) {
    for (const Waiting waiting : {Waiting::parks, Waiting::spins}) {
        const QueueOptions options{.capacity = 4, .waiting = waiting, .waiting_for_consumer = 3};
        QueueOptions some = options;
        some.consumers = many;
        stress<SpmcQueue<Item, bound, construction>>(name, some);
        some.producers = many;
        stress<MpmcQueue<Item, bound, construction>>(name, some);
        some.consumers = 1;
        stress<MpscQueue<Item, bound, construction>>(name, some);
        if constexpr (construction == Construction::direct) {
            stress<SpscQueue<Item, bound>>(name, options);
        }
    }
}

TEST(QueueStress, bounded) {
    stress_all<Bound::bounded, Construction::direct>("bounded");
}
TEST(QueueStress, unbounded) {
    stress_all<Bound::unbounded, Construction::direct>("unbounded");
}
TEST(QueueStress, mediated) {
    stress_all<Bound::bounded, Construction::mediated>("mediated");
}
TEST(QueueStress, mediated_unbounded) {
    stress_all<Bound::unbounded, Construction::mediated>("mediated_unbounded");
}

/// A consumer that leaves early loses nothing: what waits for it goes to the others.
template <class Queue>
void leave_early() {
    const test::Watchdog watchdog;
    Queue queue({.capacity = 4, .consumers = 2, .waiting_for_consumer = 2});
    std::atomic<std::uint64_t> sum{0};
    std::thread early([&, consumer = queue.consumer()]() mutable {
        std::uint64_t item = 0;
        for (int i = 0; i < 5 && consumer.pop(item) == PopResult::ok; ++i) sum += item;
    });
    std::thread late([&, consumer = queue.consumer()]() mutable {
        std::uint64_t item = 0;
        while (consumer.pop(item) == PopResult::ok) sum += item;
    });
    {
        auto producer = queue.producer();
        for (std::uint64_t i = 1; i <= 1000; ++i) EXPECT_EQ(producer.push(i), PushResult::ok);
    }
    early.join();
    late.join();
    EXPECT_EQ(sum, 500'500U);
}

TEST(Queue, a_consumer_that_leaves_loses_nothing) {
    leave_early<SpmcQueue<std::uint64_t>>();
    leave_early<SpmcQueue<std::uint64_t, Bound::unbounded>>();
    leave_early<SpmcQueue<std::uint64_t, Bound::bounded, Construction::mediated>>();
    leave_early<SpmcQueue<std::uint64_t, Bound::unbounded, Construction::mediated>>();
}

/// Without a consumer a producer that waits for room is refused.
template <class Queue>
void abandon() {
    const test::Watchdog watchdog;
    Queue queue({.capacity = 2, .waiting_for_consumer = 1});
    std::thread consumer([one = queue.consumer()]() mutable {
        int item = 0;
        EXPECT_EQ(one.pop(item), PopResult::ok);
        EXPECT_EQ(item, 0);
    });
    auto producer = queue.producer();
    auto result = PushResult::ok;
    for (int i = 0; result == PushResult::ok; ++i) result = producer.push(i);
    EXPECT_EQ(result, PushResult::closed);
    consumer.join();
}

TEST(Queue, pushes_are_refused_when_no_consumer_is_left) {
    abandon<SpscQueue<int>>();
    abandon<SpscQueue<int, Bound::unbounded>>();
    abandon<MpmcQueue<int>>();
    abandon<MpmcQueue<int, Bound::unbounded>>();
    abandon<MpmcQueue<int, Bound::bounded, Construction::mediated>>();
    abandon<MpmcQueue<int, Bound::unbounded, Construction::mediated>>();
}

TEST(Queue, refuses_when_full_and_keeps_the_value) {
    MpmcQueue<std::string> queue({.capacity = 2, .producers = 2});
    auto first = queue.producer();
    auto second = queue.producer();
    auto consumer = queue.consumer();
    std::array<std::string, 3> words{"one", "two", "three"};
    const auto pushed = first.try_push_batch(words);
    EXPECT_EQ(pushed.count, 2U);
    EXPECT_EQ(words[2], "three");
    EXPECT_EQ(second.try_push(std::move(words[2])), PushResult::full);
    EXPECT_EQ(words[2], "three");
    first.close();
    EXPECT_EQ(first.try_push(std::string("x")), PushResult::closed);
    std::string out;
    EXPECT_EQ(consumer.try_pop(out), PopResult::ok);
    EXPECT_EQ(out, "one");
    EXPECT_EQ(second.try_push(std::as_const(words[2])), PushResult::ok);
    EXPECT_EQ(words[2], "three");
    second.close();
    std::array<std::string, 4> rest;
    EXPECT_EQ(consumer.try_pop_batch(rest).count, 2U);
    EXPECT_EQ(rest[1], "three");
    EXPECT_EQ(consumer.try_pop(out), PopResult::closed);
    EXPECT_EQ(consumer.pop_batch(rest).result, PopResult::closed);
    EXPECT_EQ(out, "one");
}

TEST(Queue, destroys_what_was_never_taken) {
    const auto shared = std::make_shared<int>(1);
    const auto fill = [&shared](auto&& queue) {
        auto producer = queue.producer();
        for (int i = 0; i < 3; ++i) EXPECT_EQ(producer.push(shared), PushResult::ok);
        EXPECT_EQ(shared.use_count(), 4);
    };
    using Shared = std::shared_ptr<int>;
    fill(SpscQueue<Shared>());
    fill(MpmcQueue<Shared>());
    EXPECT_EQ(shared.use_count(), 1);
    fill(MpmcQueue<Shared, Bound::unbounded>(QueueOptions{.capacity = 1}));
    fill(MpmcQueue<Shared, Bound::bounded, Construction::mediated>());
    fill(MpmcQueue<Shared, Bound::unbounded, Construction::mediated>());
    EXPECT_EQ(shared.use_count(), 1);
}

/// A slot is built by the default constructor, which has no memory where `fails` is set.
struct Scarce {
    static inline bool fails = false;
    int number;
    explicit Scarce(int n) : number(n) {}
    Scarce() : Scarce(0) {
        if (fails) throw std::bad_alloc();
    }
};

template <class Queue>
void run_out_of_memory() {
    Queue queue({.capacity = 4});
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    std::vector<Scarce> values;
    for (int i = 0; i < 10; ++i) values.emplace_back(i);
    Scarce out(-1);
    Scarce::fails = true;
    std::span<Scarce> left = values;
    const auto pushed = producer.try_push_batch(left);
    EXPECT_EQ(pushed.count, 4U);
    EXPECT_EQ(pushed.result, PushResult::ok);
    left = left.subspan(pushed.count);
    EXPECT_THROW((void)producer.try_push_batch(left), std::bad_alloc);
    EXPECT_THROW((void)producer.push(left[0]), std::bad_alloc);
    Scarce::fails = false;
    EXPECT_EQ(producer.push_batch(left).count, 6U);
    producer.close();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(consumer.pop(out), PopResult::ok);
        EXPECT_EQ(out.number, i);
    }
    EXPECT_EQ(consumer.pop(out), PopResult::closed);
}

TEST(Queue, without_memory_a_batch_is_passed_in_part_and_nothing_is_lost) {
    run_out_of_memory<SpscQueue<Scarce, Bound::unbounded>>();
    run_out_of_memory<MpmcQueue<Scarce, Bound::unbounded>>();
}

TEST(Queue, options_that_make_no_sense_are_errors) {
    const auto message = [](auto make) -> std::string {
        try {
            make();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message([] { SpscQueue<int> queue({.producers = 2}); }),
              "QueueOptions::producers is 2, and this kind of queue has one");
    EXPECT_EQ(message([] { MpmcQueue<int> queue({.consumers = 0}); }),
              "QueueOptions::consumers is 0");
    EXPECT_EQ(message([] { MpmcQueue<int> queue({.capacity = 0}); }),
              "QueueOptions::capacity is 0");
    MpmcQueue<int> queue({.producers = 2});
    const auto first = queue.producer();
    const auto second = queue.producer();
    EXPECT_EQ(message([&] { (void)queue.producer(); }),
              "all 2 producers of the queue are given out (QueueOptions::producers)");
}

TEST(TicketChain, keeps_some_segments_and_frees_the_rest) {
    TicketChain<int, true, true> chain({.segment_capacity = 4, .spare_segments = 2});
    auto in = chain.seat_producer();
    auto idle = chain.seat_consumer();
    auto out = chain.seat_consumer();
    int item = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) EXPECT_EQ(chain.try_push(in, i), PushResult::ok);
        EXPECT_GE(chain.segments(), 25U);
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(chain.try_pop(out, item), PopResult::ok);
            EXPECT_EQ(item, i);
        }
        // The last one, two spare ones, and that of the consumer that does nothing.
        EXPECT_LE(chain.segments(), 4U);
    }
    EXPECT_EQ(chain.try_pop(idle, item), PopResult::empty);
    EXPECT_LE(chain.segments(), 3U);
    for (auto* seat : {&in, &idle, &out}) chain.leave(*seat);
}

}  // namespace
}  // namespace strid::channel
