// SPDX-License-Identifier: Apache-2.0
//
// The chain of ticket rings and the mediating thread, in every interleaving of small programs: as
// queue_interleavings_test.cpp, of which they are the other half. Segments of one item, so that
// every push changes the chain.
#include <array>
#include <memory>

#include <gtest/gtest.h>

#include <strid/engine/channel/mediator.hpp>
#include <strid/engine/channel/ticket_chain.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

#include "answer_log.hpp"

namespace strid::test {
namespace {

using channel::StepResult;

std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    return values;
}

template <class Chain>
struct ChainState {
    explicit ChainState(std::size_t spare)
        : chain({.segment_capacity = 1, .spare_segments = spare}),
          in{chain.seat_producer(), chain.seat_producer()},
          out(chain.seat_consumer()) {}
    Chain chain;
    std::array<typename Chain::Seat, 2> in;
    typename Chain::Seat out;
    std::array<Log, 2> pushed;
    std::array<Log, 2> popped;

    void push(std::size_t producer, int items) {
        for (int i = 1; i <= items; ++i) {
            push_logged(pushed[producer], static_cast<int>(10 * producer) + i,
                        [&](Watched&& w) { return chain.try_push(in[producer], std::move(w)); });
        }
    }
    void pop(std::size_t consumer, int pops, typename Chain::Seat& seat) {
        for (int i = 0; i < pops; ++i) {
            (void)pop_logged(popped[consumer], [&](Watched& w) { return chain.try_pop(seat, w); });
        }
    }
    /// The end: the test takes the items that are left.
    std::string check(std::size_t spare) {
        for (auto& seat : in) chain.leave(seat);
        chain.leave(out);
        chain.close();
        typename Chain::Seat rest = chain.seat_consumer();
        pop(1, 4, rest);
        if (popped[1].answers.back() != 'c') return "never closed";
        if (popped[1].answers.find('e') != std::string::npos) return "empty after the end";
        chain.leave(rest);
        // One is left in the chain.
        if (chain.segments() > 1 + spare) return "more segments than the bound";
        std::vector<int> in_all = pushed[0].values;
        in_all.insert(in_all.end(), pushed[1].values.begin(), pushed[1].values.end());
        std::vector<int> out_all = popped[0].values;
        out_all.insert(out_all.end(), popped[1].values.begin(), popped[1].values.end());
        if (out_all.size() == 2 && pushed[1].values.empty() && out_all != pushed[0].values) {
            return "out of order";
        }
        return sorted(in_all) == sorted(out_all) ? "" : "items lost or doubled";
    }
};

template <template <class> class Atomic>
Exploration explore_chain(std::size_t spare, int first, int second, int pops) {
    using State = ChainState<channel::TicketChain<Watched, true, true, Atomic>>;
    Explorer explorer;
    explorer.stops_at_own_reads = true;
    std::vector<std::function<void(State&)>> programs;
    if (first != 0) programs.push_back([=](State& state) { state.push(0, first); });
    if (second != 0) programs.push_back([=](State& state) { state.push(1, second); });
    if (pops != 0) programs.push_back([=](State& state) { state.pop(0, pops, state.out); });
    return explorer.run<State>([spare] { return std::make_unique<State>(spare); }, programs,
                               [=](State& state) { return state.check(spare); });
}

TEST(QueueInterleavings, a_chain_of_segments) {
    for (const std::size_t spare : {0U, 1U}) {
        for (const auto& [first, second, pops] : {std::array{2, 0, 1}, {2, 0, 2}, {1, 1, 0}}) {
            const auto result = explore_chain<ModelAtomic>(spare, first, second, pops);
            EXPECT_EQ(result.failure, "") << spare << " spare, " << first << ' ' << second;
            EXPECT_GT(result.runs, 50U);
        }
    }
}

/// One producer, whose lane is of either kind, and two consumers, of which the second leaves after
/// one look.
template <class Lane, template <class> class Atomic>
struct MediatedState {
    using Mediator = channel::Mediator<Lane, Atomic>;
    MediatedState() : mediator(lanes(), {.consumers = 2, .lane_out_capacity = 1, .run = 1}) {}
    static std::vector<std::unique_ptr<Lane>> lanes() {
        std::vector<std::unique_ptr<Lane>> all;
        if constexpr (requires { typename Lane::Options; }) {
            all.push_back(std::make_unique<Lane>(
                typename Lane::Options{.segment_capacity = 1, .spare_segments = 1}));
        } else {
            all.push_back(std::make_unique<Lane>(std::size_t{2}));
        }
        return all;
    }
    Mediator mediator;
    Log pushed;
    std::array<Log, 3> popped;

    void pop(std::size_t log, std::size_t consumer) {
        (void)pop_logged(popped[log],
                         [&](Watched& w) { return mediator.lane_out(consumer).try_pop(w); });
    }
    std::string check() {
        auto result = StepResult::progressed;
        for (int i = 0; i < 20 && result != StepResult::ended; ++i) {
            result = mediator.step();
            pop(2, 0);
        }
        if (result != StepResult::ended) return "never ended";
        std::vector<int> out;
        for (const Log& log : popped) {
            if (!closed_is_last(log.answers)) return "something after closed";
            out.insert(out.end(), log.values.begin(), log.values.end());
        }
        return sorted(out) == sorted(pushed.values) ? "" : "items lost or doubled";
    }
};

template <class Lane, template <class> class Atomic = ModelAtomic>
Exploration explore_mediated() {
    using State = MediatedState<Lane, Atomic>;
    Explorer explorer;
    return explorer.run<State>([] { return std::make_unique<State>(); },
                               {[](State& state) {
                                    for (int i = 1; i <= 2; ++i) {
                                        push_logged(state.pushed, i, [&](Watched&& w) {
                                            return state.mediator.lane_in(0).try_push(std::move(w));
                                        });
                                    }
                                    state.mediator.lane_in(0).close();
                                },
                                [](State& state) {
                                    for (int i = 0; i < 2; ++i) (void)state.mediator.step();
                                },
                                [](State& state) {
                                    state.pop(1, 1);
                                    state.mediator.leave(1);
                                }},
                               [](State& state) { return state.check(); });
}

TEST(QueueInterleavings, a_thread_that_mediates) {
    const auto bounded = explore_mediated<channel::SpscRing<Watched, ModelAtomic>>();
    EXPECT_EQ(bounded.failure, "");
    EXPECT_GT(bounded.runs, 100U);
    const auto unbounded = explore_mediated<channel::UnboundedSpsc<Watched, ModelAtomic>>();
    EXPECT_EQ(unbounded.failure, "");
}

// The test of the tests.
TEST(QueueInterleavings, chain_and_mediator_fail_without_release_and_acquire) {
    EXPECT_NE(explore_chain<RelaxedModelAtomic>(1, 1, 1, 1).failure, "");
    using Lane = channel::SpscRing<Watched, RelaxedModelAtomic>;
    const auto mediated = explore_mediated<Lane, RelaxedModelAtomic>();
    EXPECT_NE(mediated.failure.find("race"), std::string::npos) << mediated.failure;
}

}  // namespace
}  // namespace strid::test
