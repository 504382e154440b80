// SPDX-License-Identifier: Apache-2.0
//
// The parts of the queues for several producers or consumers on tiny capacities, in every
// interleaving and with every stale read that the C++ memory model allows (interleaving.hpp). The
// oracle is the meaning of a queue: every item whose push returned `ok` arrives once; a consumer
// gets those of one producer in their order; `closed` comes last and only when nothing is left; no
// access to an item races; no thread that waits sleeps for ever.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/doorbell.hpp>
#include <strid/engine/channel/ticket_ring.hpp>
#include <strid/engine/channel/word_lock.hpp>

#include "answer_log.hpp"

namespace strid::test {
namespace {

using channel::TicketRing;

/// Items of producer p are 10 p + 1, 10 p + 2, ...
bool rises_by_producer(const std::vector<int>& values) {
    std::array<int, 10> last{};
    return std::all_of(values.begin(), values.end(), [&last](int value) {
        const auto producer = static_cast<std::size_t>(value / 10);
        return std::exchange(last.at(producer), value) < value;
    });
}

/// The items that went in and those that came out are the same.
std::string check_logs(const std::vector<const Log*>& pushed,
                       const std::vector<const Log*>& popped) {
    std::vector<int> in;
    std::vector<int> out;
    for (const Log* log : pushed) in.insert(in.end(), log->values.begin(), log->values.end());
    for (const Log* log : popped) {
        if (!rises_by_producer(log->values)) return "a producer's items out of order";
        if (!closed_is_last(log->answers)) return "something after closed";
        out.insert(out.end(), log->values.begin(), log->values.end());
    }
    std::sort(in.begin(), in.end());
    std::sort(out.begin(), out.end());
    return in == out ? "" : "items lost or doubled";
}

template <class Ring>
struct Crowd {
    explicit Crowd(std::size_t capacity, int producers) : ring(capacity), open(producers) {}
    Ring ring;
    ModelAtomic<int> open;  // producers that have not closed
    std::array<Log, 2> pushed;
    std::array<Log, 3> popped;  // the last one is the test's own, at the end

    void push(std::size_t producer, int items) {
        for (int i = 1; i <= items; ++i) {
            push_logged(pushed[producer], static_cast<int>(10 * producer) + i,
                        [&](Watched&& w) { return ring.try_push(std::move(w)); });
        }
        if (open.fetch_sub(1, std::memory_order_acq_rel) == 1) ring.close();
    }
    void pop(std::size_t consumer, int pops) {
        for (int i = 0; i < pops; ++i) {
            (void)pop_logged(popped[consumer], [&](Watched& w) { return ring.try_pop(w); });
        }
    }
    std::string check(Coverage& coverage, std::size_t capacity) {
        for (const Log& log : pushed) coverage.pushes.insert(log.answers);
        for (const Log& log : popped) coverage.pops.insert(log.answers);
        while (popped[2].answers.find('c') == std::string::npos) {
            pop(2, 1);
            if (popped[2].answers.find('e') != std::string::npos) return "empty after the end";
        }
        for (const Log& log : pushed) {
            const auto refused = log.answers.find('f');
            // The other producer may have filled the ring.
            if (refused != std::string::npos && capacity > 3) return "refused by a ring with room";
        }
        if (!ring.is_valid()) return "the invariant of the ring";
        return check_logs({&pushed[0], &pushed[1]}, {&popped[0], &popped[1], &popped[2]});
    }
};

template <class Ring>
Exploration explore(std::size_t capacity, std::vector<int> pushes, std::vector<int> pops,
                    Coverage& coverage) {
    using State = Crowd<Ring>;
    std::vector<std::function<void(State&)>> programs;
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        programs.push_back([i, items = pushes[i]](State& state) { state.push(i, items); });
    }
    for (std::size_t i = 0; i < pops.size(); ++i) {
        programs.push_back([i, count = pops[i]](State& state) { state.pop(i, count); });
    }
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    return explorer.run<State>(
        [&] { return std::make_unique<State>(capacity, static_cast<int>(pushes.size())); },
        programs, [&](State& state) { return state.check(coverage, capacity); });
}

TEST(QueueInterleavings, many_producers) {
    for (const std::size_t capacity : {1U, 2U}) {
        Coverage coverage;
        const auto result =
            explore<TicketRing<Watched, true, true, ModelAtomic>>(capacity, {1, 1}, {1}, coverage);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_GT(result.runs, 100U);
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity == 1);
        EXPECT_EQ(coverage.pops.count("o") + coverage.pops.count("e"), 2U);
    }
}

TEST(QueueInterleavings, many_consumers) {
    for (const std::size_t capacity : {1U, 2U}) {
        Coverage coverage;
        const auto result =
            explore<TicketRing<Watched, true, true, ModelAtomic>>(capacity, {2}, {1, 1}, coverage);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity == 1);
        EXPECT_EQ(coverage.pops.count("o") + coverage.pops.count("e"), 2U);
    }
}

TEST(QueueInterleavings, one_producer_and_many_consumers) {
    for (const std::size_t capacity : {1U, 2U, 4U}) {
        Coverage coverage;
        const auto result =
            explore<TicketRing<Watched, false, true, ModelAtomic>>(capacity, {2}, {2, 1}, coverage);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity < 2);
        EXPECT_TRUE(Coverage::any(coverage.pops, 'e'));
        EXPECT_EQ(coverage.pops.count("oo"), 1U);
    }
}

TEST(QueueInterleavings, many_producers_and_one_consumer) {
    for (const std::size_t capacity : {1U, 2U, 4U}) {
        Coverage coverage;
        const auto result =
            explore<TicketRing<Watched, true, false, ModelAtomic>>(capacity, {2, 1}, {1}, coverage);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity < 3);
        EXPECT_TRUE(Coverage::any(coverage.pops, 'e'));
        EXPECT_TRUE(Coverage::any(coverage.pops, 'o'));
    }
}

TEST(QueueInterleavings, batches_beside_single_items) {
    struct State : Crowd<TicketRing<Watched, true, true, ModelAtomic>> {
        State() : Crowd(2, 2) {}
    };
    std::array<bool, 3> counts{};
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    Coverage coverage;
    const auto result =
        explorer.run<State>([] { return std::make_unique<State>(); },
                            {[](State& state) {
                                 std::array<Watched, 2> items{1, 2};
                                 const auto pushed = state.ring.try_push_several(items);
                                 for (std::size_t i = 0; i < pushed.count; ++i) {
                                     state.pushed[0].values.push_back(static_cast<int>(i) + 1);
                                 }
                                 state.push(0, 0);
                             },
                             [](State& state) { state.push(1, 1); },
                             [&counts](State& state) {
                                 std::array<Watched, 2> items;
                                 const auto popped = state.ring.try_pop_several(items);
                                 counts[popped.count] = true;
                                 for (std::size_t i = 0; i < popped.count; ++i) {
                                     state.popped[0].values.push_back(items[i].get());
                                 }
                             }},
                            [&coverage](State& state) { return state.check(coverage, 2); });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(counts, (std::array{true, true, true}));
}

TEST(QueueInterleavings, closing_while_another_thread_pushes) {
    // As a segment of a chain is: what was accepted arrives, what came later is refused.
    struct State {
        TicketRing<Watched, true, true, ModelAtomic> ring{2};
        std::array<Log, 1> pushed;
        std::array<Log, 2> popped;
    };
    std::set<std::string> answers;
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             for (int i = 1; i <= 2; ++i) {
                 push_logged(state.pushed[0], i,
                             [&](Watched&& w) { return state.ring.try_push(std::move(w)); });
             }
         },
         [](State& state) { state.ring.close(); },
         [](State& state) {
             for (int i = 0; i < 2; ++i) {
                 (void)pop_logged(state.popped[0],
                                  [&](Watched& w) { return state.ring.try_pop(w); });
             }
         }},
        [&answers](State& state) -> std::string {
            answers.insert(state.pushed[0].answers);
            for (int i = 0; i < 3; ++i) {
                (void)pop_logged(state.popped[1],
                                 [&](Watched& w) { return state.ring.try_pop(w); });
            }
            if (state.popped[1].answers.back() != 'c') return "never closed";
            return check_logs({&state.pushed[0]}, {&state.popped[0], &state.popped[1]});
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(answers, (std::set<std::string>{"oo", "oc", "cc"}));
}

/// Consumers that sleep until they have an item or the end, producers that ring.
template <template <class> class Atomic, bool rings>
Exploration explore_sleep(std::size_t producers, std::size_t consumers) {
    struct State : Crowd<TicketRing<Watched, true, true, Atomic>> {
        using Crowd<TicketRing<Watched, true, true, Atomic>>::Crowd;
        channel::Doorbell<Atomic> filled;
    };
    std::vector<std::function<void(State&)>> programs;
    for (std::size_t i = 0; i < producers; ++i) {
        programs.push_back([i](State& state) {
            push_logged(state.pushed[i], static_cast<int>(10 * i) + 1,
                        [&](Watched&& w) { return state.ring.try_push(std::move(w)); });
            if (rings) state.filled.ring();
            state.push(i, 0);  // closes
            if (rings) state.filled.ring();
        });
    }
    for (std::size_t i = 0; i < consumers; ++i) {
        programs.push_back([i](State& state) {
            bool done = false;
            const auto look = [&] {
                return done = pop_logged(state.popped[i], [&](Watched& w) {
                                  return state.ring.try_pop(w);
                              }) != PopResult::empty;
            };
            while (!done) state.filled.wait(look);
        });
    }
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    return explorer.run<State>(
        [=] { return std::make_unique<State>(std::size_t{2}, static_cast<int>(producers)); },
        programs,
        [](State& state) {
            state.pop(2, 2);  // what the consumers left
            return check_logs({&state.pushed[0], &state.pushed[1]},
                              {&state.popped[0], &state.popped[1], &state.popped[2]});
        });
}

TEST(QueueInterleavings, no_consumer_sleeps_while_there_are_items) {
    EXPECT_EQ((explore_sleep<ModelAtomic, true>(1, 1).failure), "");
}

/// The bell alone: a count of items in the place of a ring, one for each consumer.
Exploration explore_bell(std::size_t producers, std::size_t consumers) {
    struct State {
        channel::Doorbell<ModelAtomic> filled;
        ModelAtomic<int> items;
    };
    std::vector<std::function<void(State&)>> programs(producers, [=](State& state) {
        state.items.fetch_add(static_cast<int>(consumers / producers), std::memory_order_relaxed);
        state.filled.ring();
    });
    programs.resize(producers + consumers, [](State& state) {
        bool done = false;
        const auto look = [&] {
            int count = state.items.load(std::memory_order_relaxed);
            while (count != 0 && !done) {
                done = state.items.compare_exchange_strong(count, count - 1,
                                                           std::memory_order_relaxed);
            }
            return done;
        };
        while (!done) state.filled.wait(look);
    });
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    return explorer.run<State>([] { return std::make_unique<State>(); }, programs,
                               [](State&) { return std::string(); });
}

TEST(QueueInterleavings, the_bell_wakes_every_consumer_that_has_an_item) {
    for (const auto& [producers, consumers] : {std::pair{1U, 1U}, {1U, 2U}}) {
        const auto result = explore_bell(producers, consumers);
        EXPECT_EQ(result.failure, "") << producers << ' ' << consumers;
        EXPECT_GT(result.runs, 5U);
    }
}

TEST(QueueInterleavings, a_lock_excludes) {
    struct State {
        channel::WordLock<ModelAtomic> lock;
        Watched sum{0};
        void add() {
            const std::lock_guard guard(lock);
            sum = Watched(sum.get() + 1);
        }
    };
    const auto add = [](State& state) { state.add(); };
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); }, {add, add},
        [](State& state) { return state.sum.get() == 2 ? std::string() : "an addition is lost"; });
    EXPECT_EQ(result.failure, "");
}

// The test of the tests: without its orders nothing passes, and a thread that sleeps for ever is
// found.

TEST(QueueInterleavings, fails_without_release_and_acquire) {
    Coverage coverage;
    const auto ring =
        explore<TicketRing<Watched, true, true, RelaxedModelAtomic>>(2, {1, 1}, {1}, coverage);
    EXPECT_NE(ring.failure.find("race"), std::string::npos) << ring.failure;
    EXPECT_NE((explore_sleep<RelaxedModelAtomic, true>(1, 1).failure), "");
    EXPECT_NE((explore_sleep<ModelAtomic, false>(1, 1).failure.find("sleeps for ever")),
              std::string::npos);
}

}  // namespace
}  // namespace strid::test
