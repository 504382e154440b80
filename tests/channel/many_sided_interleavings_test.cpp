// SPDX-License-Identifier: Apache-2.0
//
// Every channel with many producers or many consumers on a tiny capacity, in every interleaving and
// with every stale read that the C++ memory model allows (interleaving.hpp). The oracle is the
// meaning of a queue: what a producer was told was accepted arrives once, in that producer's order;
// `closed` comes last and only when nothing is left; nothing is refused by an empty channel; no
// access to an item races.
#include <gtest/gtest.h>

#include <strid/channel/mpmc_channel.hpp>

#include "answer_log.hpp"

namespace strid::test {
namespace {

/// The accepted items of producer p are p*10+1, p*10+2, ...: those of one producer in order.
bool keeps_order_per_producer(const std::vector<int>& taken) {
    for (std::size_t i = 0; i < taken.size(); ++i) {
        for (std::size_t k = i + 1; k < taken.size(); ++k) {
            if (taken[i] / 10 == taken[k] / 10 && taken[i] >= taken[k]) return false;
        }
    }
    return true;
}

std::multiset<int> together(std::initializer_list<const Log*> logs) {
    std::multiset<int> all;
    for (const Log* log : logs) all.insert(log->values.begin(), log->values.end());
    return all;
}

TEST(ManySidedInterleavings, mpsc_channel) {
    struct State {
        channel::MpscChannel<Watched, ModelAtomic> channel{
            {.producers = 2, .lane_capacity = 1, .burst = 1}};
        Log pushed[2];
        Log popped;
    };
    const auto produce = [](std::size_t i) {
        return [i](State& state) {
            for (int k = 1; k <= 2; ++k) {
                push_logged(state.pushed[i], static_cast<int>(i + 1) * 10 + k,
                            [&](Watched&& w) { return state.channel.try_push(i, std::move(w)); });
            }
            state.channel.close(i);
        };
    };
    const auto pop = [](State& state) {
        return pop_logged(state.popped, [&](Watched& w) { return state.channel.try_pop(w); });
    };
    Coverage coverage;
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {produce(0), produce(1),
         [pop](State& state) {
             for (int i = 0; i < 3; ++i) (void)pop(state);
         }},
        [pop, &coverage](State& state) -> std::string {
            coverage.pops.insert(state.popped.answers);
            for (int i = 0; i < 20 && pop(state) != PopResult::closed; ++i) {
            }
            if (!closed_is_last(state.popped.answers)) return "something after closed";
            if (together({&state.popped}) != together({&state.pushed[0], &state.pushed[1]})) {
                return "items lost or doubled";
            }
            if (!keeps_order_per_producer(state.popped.values)) return "out of order";
            return state.channel.drained() ? "" : "not drained";
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_TRUE(coverage.pops.count("ooo") == 1 && coverage.pops.count("eee") == 1);
}

template <class Policy>
void explore_spmc() {
    struct State {
        channel::SpmcChannel<Watched, Policy, ModelAtomic> channel{
            {.consumers = 2, .lane_capacity = 1}};
        Log pushed;
        Log popped[2];
    };
    const auto pop = [](State& state, std::size_t i) {
        return pop_logged(state.popped[i], [&](Watched& w) { return state.channel.try_pop(i, w); });
    };
    const auto consume = [pop](std::size_t i) {
        return [pop, i](State& state) {
            for (int k = 0; k < 2; ++k) (void)pop(state, i);
        };
    };
    Coverage coverage;
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             for (int k = 11; k <= 13; ++k) {
                 push_logged(state.pushed, k,
                             [&](Watched&& w) { return state.channel.try_push(std::move(w)); });
             }
             state.channel.close();
         },
         consume(0), consume(1)},
        [pop, &coverage](State& state) -> std::string {
            coverage.pushes.insert(state.pushed.answers);
            for (std::size_t i = 0; i < 2; ++i) {
                for (int k = 0; k < 20 && pop(state, i) != PopResult::closed; ++k) {
                }
                if (!closed_is_last(state.popped[i].answers)) return "something after closed";
                if (!keeps_order_per_producer(state.popped[i].values)) return "out of order";
            }
            if (together({&state.pushed}) != together({&state.popped[0], &state.popped[1]})) {
                return "items lost or doubled";
            }
            if (state.pushed.answers.substr(0, 2) != "oo") return "refused by an empty lane";
            return "";
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_TRUE(coverage.pushes.count("ooo") == 1 && coverage.pushes.count("oof") == 1);
}

TEST(ManySidedInterleavings, spmc_channel_round_robin) {
    explore_spmc<channel::RoundRobin>();
}
TEST(ManySidedInterleavings, spmc_channel_strict) {
    explore_spmc<channel::StrictRoundRobin>();
}
TEST(ManySidedInterleavings, spmc_channel_least_full) {
    explore_spmc<channel::LeastFull>();
}

/// Looks at up to `count` items, takes all but the last of two or more, and so leaves something
/// peeked that is not released.
template <class Peek, class Release>
std::size_t take_most(Log& log, Peek peek, Release release) {
    const auto items = peek();
    const std::size_t taken = items.size() > 1 ? items.size() - 1 : items.size();
    for (std::size_t i = 0; i < taken; ++i) log.values.push_back(items[i].get());
    release(taken);
    return items.size();
}

TEST(ManySidedInterleavings, batches_of_the_mpsc_channel) {
    struct State {
        channel::MpscChannel<Watched, ModelAtomic> channel{
            {.producers = 2, .lane_capacity = 2, .burst = 2}};
        Log pushed[2];
        Log popped;
        bool claimed_drained = false;
        bool mixed = false;
    };
    const auto produce = [](std::size_t i, int count) {
        return [i, count](State& state) {
            for (int k = 1; k <= count; ++k) {
                push_logged(state.pushed[i], static_cast<int>(i + 1) * 10 + k,
                            [&](Watched&& w) { return state.channel.try_push(i, std::move(w)); });
            }
            state.channel.close(i);
        };
    };
    const auto take = [](State& state) {
        const std::size_t before = state.popped.values.size();
        const std::size_t seen = take_most(
            state.popped, [&] { return state.channel.peek(2); },
            [&](std::size_t count) { state.channel.release(count); });
        for (std::size_t i = before; i < state.popped.values.size(); ++i) {
            // lane_of_peek() names the producer until the next peek.
            const auto lane = static_cast<int>(state.channel.lane_of_peek());
            state.mixed = state.mixed || state.popped.values[i] / 10 != lane + 1;
        }
        return seen;
    };
    std::size_t longest = 0;
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {produce(0, 2), produce(1, 1),
         [take, &longest](State& state) {
             for (int i = 0; i < 2; ++i) longest = std::max(longest, take(state));
             state.claimed_drained = state.channel.drained();
         }},
        [take](State& state) -> std::string {
            const auto pushed = together({&state.pushed[0], &state.pushed[1]});
            if (state.claimed_drained && together({&state.popped}) != pushed) {
                return "drained before everything was taken";
            }
            for (int i = 0; i < 20 && !state.channel.drained(); ++i) (void)take(state);
            if (together({&state.popped}) != pushed) return "items lost or doubled";
            if (!keeps_order_per_producer(state.popped.values)) return "out of order";
            return state.mixed ? "a peek is of another producer than it says" : "";
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(longest, 2U);
}

/// Routing by key: two items for each lane by name, and batches at the other end.
TEST(ManySidedInterleavings, batches_by_lane_of_the_spmc_channel) {
    struct State {
        channel::SpmcChannel<Watched, channel::RoundRobin, ModelAtomic> channel{
            {.consumers = 2, .lane_capacity = 2}};
        Log pushed[2];
        Log popped[2];
        bool claimed_drained[2] = {false, false};
    };
    const auto take = [](State& state, std::size_t i) {
        return take_most(
            state.popped[i], [&] { return state.channel.peek(i, 2); },
            [&](std::size_t count) { state.channel.release(i, count); });
    };
    std::size_t longest = 0;
    const auto consume = [take, &longest](std::size_t i) {
        return [take, &longest, i](State& state) {
            longest = std::max(longest, take(state, i));
            state.claimed_drained[i] = state.channel.drained(i);
        };
    };
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             for (int k = 1; k <= 3; ++k) {
                 const std::size_t lane = k == 3 ? 1 : 0;
                 push_logged(state.pushed[lane], k, [&](Watched&& w) {
                     return state.channel.try_push_to(lane, std::move(w));
                 });
             }
             state.channel.close();
             if (state.channel.try_push_to(0, Watched(9)) != PushResult::closed) {
                 state.pushed[0].values.push_back(9);  // is not there: a failure
             }
         },
         consume(0), consume(1)},
        [take](State& state) -> std::string {
            for (std::size_t i = 0; i < 2; ++i) {
                if (state.claimed_drained[i] && state.popped[i].values != state.pushed[i].values) {
                    return "drained before everything was taken";
                }
                for (int k = 0; k < 20 && !state.channel.drained(i); ++k) (void)take(state, i);
                if (state.popped[i].values != state.pushed[i].values) {
                    return "a lane's items lost, doubled, out of order or in another lane";
                }
            }
            if (state.pushed[0].answers != "oo" || state.pushed[1].answers != "o") {
                return "refused by a lane with room";
            }
            return "";
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(longest, 2U);
}

TEST(ManySidedInterleavings, mpmc_channel) {
    struct State {
        channel::MpmcChannel<Watched, channel::RoundRobin, ModelAtomic> channel{
            {.producers = 2, .consumers = 2, .lane_capacity = 1, .burst = 1}};
        Log pushed[2];
        Log popped[2];
    };
    const auto produce = [](std::size_t i, int count) {
        return [i, count](State& state) {
            for (int k = 1; k <= count; ++k) {
                push_logged(state.pushed[i], static_cast<int>(i + 1) * 10 + k,
                            [&](Watched&& w) { return state.channel.try_push(i, std::move(w)); });
            }
            state.channel.close(i);
        };
    };
    const auto pop = [](State& state, std::size_t i) {
        return pop_logged(state.popped[i], [&](Watched& w) { return state.channel.try_pop(i, w); });
    };
    std::set<ArbiterResult> answers;
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {produce(0, 1), produce(1, 0),
         [&answers](State& state) {
             for (int i = 0; i < 2; ++i) answers.insert(state.channel.step(1));
         },
         [pop](State& state) {
             for (int i = 0; i < 2; ++i) (void)pop(state, 0);
         }},
        [pop](State& state) -> std::string {
            while (state.channel.step(4) != ArbiterResult::closed) {
                if (state.popped[1].answers.size() > 20) return "never closed";
                (void)pop(state, 1);
                (void)pop(state, 0);
            }
            for (std::size_t i = 0; i < 2; ++i) {
                for (int k = 0; k < 20 && pop(state, i) != PopResult::closed; ++k) {
                }
                if (!closed_is_last(state.popped[i].answers)) return "something after closed";
            }
            if (together({&state.pushed[0], &state.pushed[1]}) !=
                together({&state.popped[0], &state.popped[1]})) {
                return "items lost or doubled";
            }
            return "";
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(answers.count(ArbiterResult::progressed), 1U);
    EXPECT_EQ(answers.count(ArbiterResult::empty), 1U);
    EXPECT_EQ(answers.count(ArbiterResult::closed), 1U);
}

}  // namespace
}  // namespace strid::test
