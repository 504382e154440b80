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
