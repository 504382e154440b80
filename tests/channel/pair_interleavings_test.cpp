// SPDX-License-Identifier: Apache-2.0
//
// Every channel between two threads on a tiny capacity, in every interleaving and with every stale
// read that the C++ memory model allows (interleaving.hpp). The oracle is the meaning of a queue:
// every item whose push returned `ok` arrives once, in that producer's order; `closed` comes last
// and only when nothing is left; an empty channel refuses nothing; no access to an item races.
#include <array>

#include <gtest/gtest.h>

#include <strid/engine/channel/shared_pointer_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

#include "answer_log.hpp"

namespace strid::test {
namespace {

template <class Channel>
struct Pair {
    template <class... Args>
    explicit Pair(Args... args) : channel(args...) {}
    Channel channel;
    Log pushed;
    Log popped;
    bool claimed_closed = false;
};

template <class Channel>
std::string check_pair(Pair<Channel>& state, std::size_t capacity) {
    while (pop_logged(state.popped, [&](Watched& w) { return state.channel.try_pop(w); }) !=
           PopResult::closed) {
        if (state.popped.answers.size() > 100) return "never closed";
    }
    if (state.popped.values != state.pushed.values) return "items lost, doubled or out of order";
    if (!closed_is_last(state.popped.answers)) return "something after closed";
    const auto refused = state.pushed.answers.find('f');
    if (refused != std::string::npos && refused < capacity) return "refused by a ring with room";
    return "";
}

/// Pushes `pushes` items, one attempt each, and closes; pops `pops` times.
template <class Channel, class... Args>
Exploration explore_pair(int pushes, int pops, std::size_t capacity, Coverage& coverage,
                         Args... args) {
    using State = Pair<Channel>;
    Explorer explorer;
    return explorer.run<State>(
        [args...] { return std::make_unique<State>(args...); },
        {[pushes](State& state) {
             for (int i = 1; i <= pushes; ++i) {
                 push_logged(state.pushed, i,
                             [&](Watched&& w) { return state.channel.try_push(std::move(w)); });
             }
             state.channel.close();
             push_logged(state.pushed, 99,
                         [&](Watched&& w) { return state.channel.try_push(std::move(w)); });
         },
         [pops](State& state) {
             for (int i = 0; i < pops; ++i) {
                 (void)pop_logged(state.popped,
                                  [&](Watched& w) { return state.channel.try_pop(w); });
             }
         }},
        [&coverage, capacity](State& state) {
            coverage.pushes.insert(state.pushed.answers);
            coverage.pops.insert(state.popped.answers);
            if (state.pushed.answers.back() != 'c') return std::string("pushed after close");
            return check_pair(state, capacity);
        });
}

TEST(PairInterleavings, spsc_ring) {
    for (const std::size_t capacity : {1U, 2U, 4U}) {
        Coverage coverage;
        const auto result = explore_pair<channel::SpscRing<Watched, ModelAtomic>>(
            3, 4, capacity, coverage, capacity);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_GT(result.runs, 100U);
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity < 3);
        EXPECT_TRUE(Coverage::any(coverage.pops, 'e'));
        // Both extremes: the consumer saw nothing, and everything.
        EXPECT_EQ(coverage.pops.count("eeee") + coverage.pops.count("oooc"), 2U);
    }
}

TEST(PairInterleavings, flagged_ring) {
    for (const std::size_t capacity : {1U, 2U, 4U}) {
        Coverage coverage;
        const auto result = explore_pair<channel::FlaggedRing<Watched, ModelAtomic>>(
            3, 4, capacity, coverage, capacity);
        EXPECT_EQ(result.failure, "") << "capacity " << capacity;
        EXPECT_EQ(Coverage::any(coverage.pushes, 'f'), capacity < 3);
        EXPECT_TRUE(Coverage::any(coverage.pops, 'e'));
        EXPECT_EQ(coverage.pops.count("eeee") + coverage.pops.count("oooc"), 2U);
    }
}

using UnboundedModel = channel::UnboundedSpsc<Watched, ModelAtomic>;

TEST(PairInterleavings, unbounded_spsc) {
    for (const std::size_t spare : {1U, 2U}) {
        Coverage coverage;
        // Segments of one item: every push is a new segment, new or used.
        const auto result = explore_pair<UnboundedModel>(
            3, 4, 100, coverage,
            UnboundedModel::Options{.segment_capacity = 1, .spare_segments = spare});
        EXPECT_EQ(result.failure, "") << "spare " << spare;
        EXPECT_FALSE(Coverage::any(coverage.pushes, 'f'));
        EXPECT_EQ(coverage.pops.count("eeee"), 1U);
        EXPECT_EQ(coverage.pops.count("oooc"), 1U);
    }
}

TEST(PairInterleavings, unbounded_spsc_with_segments_of_two) {
    for (const std::size_t spare : {1U, 2U}) {
        Coverage coverage;
        // A segment is half full when the consumer catches up, or full when the next is chained.
        const auto result = explore_pair<UnboundedModel>(
            3, 3, 100, coverage,
            UnboundedModel::Options{.segment_capacity = 2, .spare_segments = spare});
        EXPECT_EQ(result.failure, "") << "spare " << spare;
        EXPECT_FALSE(Coverage::any(coverage.pushes, 'f'));
        EXPECT_EQ(coverage.pops.count("eee"), 1U);
        EXPECT_EQ(coverage.pops.count("ooo"), 1U);
        EXPECT_EQ(coverage.pops.count("oeo"), 1U);
    }
}

TEST(PairInterleavings, batches_of_the_spsc_ring) {
    using State = Pair<channel::SpscRing<Watched, ModelAtomic>>;
    Explorer explorer;
    std::size_t longest = 0;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(std::size_t{4}); },
        {[](State& state) {
             int next = 1;
             for (int batch = 0; batch < 3; ++batch) {
                 const auto slots = state.channel.claim(3);
                 for (auto& slot : slots) {
                     slot = Watched(next);
                     state.pushed.values.push_back(next++);
                 }
                 state.channel.commit(slots.size());
             }
             state.channel.close();
         },
         [&longest](State& state) {
             for (int batch = 0; batch < 4; ++batch) {
                 const auto items = state.channel.peek(4);
                 longest = std::max(longest, items.size());
                 // Take all but the last of three or more, to leave something peeked unreleased.
                 const std::size_t taken = items.size() > 2 ? items.size() - 1 : items.size();
                 for (std::size_t i = 0; i < taken; ++i) {
                     state.popped.values.push_back(items[i].get());
                 }
                 state.channel.release(taken);
             }
             state.claimed_closed = state.channel.drained();
         }},
        [](State& state) -> std::string {
            if (state.claimed_closed && state.popped.values != state.pushed.values) {
                return "drained before everything was taken";
            }
            return check_pair(state, 0);
        });
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(longest, 4U);
}

TEST(PairInterleavings, what_was_pushed_before_is_never_called_empty) {
    // A reader that sees a push through another word must find the item: a sleeping consumer
    // relies on this invariant.
    struct State {
        channel::SpscRing<Watched, ModelAtomic> ring{2};
        ModelAtomic<int> announced{0};
        bool missed = false;
        bool odd_size = false;
    };
    Explorer explorer;
    const auto result = explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             (void)state.ring.try_push(Watched(1));
             state.announced.store(1, std::memory_order_release);
         },
         [](State& state) {
             const bool announced = state.announced.load(std::memory_order_acquire) == 1;
             state.missed = state.ring.consumer_empty() && announced;
         },
         [](State& state) { state.odd_size = state.ring.size() > 1; }},
        [](State& state) -> std::string {
            if (state.odd_size) return "size out of range";
            return state.missed ? "missed an item that was announced" : "";
        });
    EXPECT_EQ(result.failure, "");
}

// The test of the tests: without its orders no channel passes.

TEST(PairInterleavings, every_channel_fails_without_release_and_acquire) {
    Coverage coverage;
    const auto spsc = explore_pair<channel::SpscRing<Watched, RelaxedModelAtomic>>(
        2, 2, 2, coverage, std::size_t{2});
    EXPECT_NE(spsc.failure.find("race"), std::string::npos);
    const auto flagged = explore_pair<channel::FlaggedRing<Watched, RelaxedModelAtomic>>(
        2, 2, 2, coverage, std::size_t{2});
    EXPECT_NE(flagged.failure.find("race"), std::string::npos);
    using Unbounded = channel::UnboundedSpsc<Watched, RelaxedModelAtomic>;
    const auto unbounded = explore_pair<Unbounded>(
        2, 2, 100, coverage, Unbounded::Options{.segment_capacity = 1, .spare_segments = 1});
    EXPECT_NE(unbounded.failure.find("race"), std::string::npos);
}

}  // namespace
}  // namespace strid::test
