// SPDX-License-Identifier: Apache-2.0
//
// The protocols of lanes and loops in every interleaving and with every stale read that the C++
// memory model allows (tests/channel/interleaving.hpp). The oracle: a producer that waits for room
// is woken when there is some, a result that is pushed is found or its node is woken, and a loop
// that is over has none of its tasks still worked on. Each has a mutant with relaxed orders, in
// which the same check finds the fault.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/pattern/lane.hpp>
#include <strid/engine/pattern/loop.hpp>

#include "../channel/interleaving.hpp"

namespace strid::test {
namespace {

using channel::PopResult;
using channel::PushResult;
using channel::SpscRing;

// ---- a producer waits for room -----------------------------------------------------------------

template <template <class> class Atomic>
struct Room {
    SpscRing<Watched, ModelAtomic> ring{1};
    pattern::BasicRoomWait<Atomic> wait;
    int pushed = 0;
    int popped = 0;
    bool waits = false;
    bool woken = false;

    bool push() {
        Watched item(pushed + 1);
        if (ring.try_push(std::move(item)) != PushResult::ok) return false;
        ++pushed;
        return true;
    }
};

template <template <class> class Atomic>
Exploration explore_room() {
    using State = Room<Atomic>;
    Explorer explorer;
    return explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             for (int i = 0; i < 2; ++i) {
                 if (state.push()) continue;
                 state.wait.set();
                 if (state.push()) continue;
                 state.waits = true;
                 return;
             }
         },
         [](State& state) {
             for (int i = 0; i < 2; ++i) {
                 Watched item;
                 if (state.ring.try_pop(item) == PopResult::ok) ++state.popped;
                 if (state.wait.take()) state.woken = true;
             }
         }},
        [](State& state) -> std::string {
            const bool has_room = state.pushed == state.popped;
            return state.waits && has_room && !state.woken ? "a producer sleeps with room" : "";
        });
}

TEST(WakingInterleavings, ProducerIsWokenWhenThereIsRoom) {
    const Exploration result = explore_room<ModelAtomic>();
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.runs, 50U);
    EXPECT_NE(explore_room<RelaxedModelAtomic>().failure, "");
}

// ---- a thread outside looks for results --------------------------------------------------------

template <template <class> class Atomic>
struct Results {
    SpscRing<Watched, ModelAtomic> ring{2};
    pattern::BasicWatchers<Atomic> watchers;
    bool pushed = false;
    bool found = false;
    bool woken = false;
};

template <template <class> class Atomic>
Exploration explore_results() {
    using State = Results<Atomic>;
    Explorer explorer;
    return explorer.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             Watched item(1);
             state.pushed = state.ring.try_push(std::move(item)) == PushResult::ok;
             if (!state.watchers.see_what_was_pushed()) state.woken = true;
         },
         [](State& state) {
             Watched item;
             state.watchers.begin();
             state.found = state.ring.try_pop(item) == PopResult::ok;
             state.watchers.end();
             if (!state.found) state.found = state.ring.try_pop(item) == PopResult::ok;
         }},
        [](State& state) -> std::string {
            if (!state.pushed) return "no room for the first";
            return state.found || state.woken ? "" : "a result that no thread looks for";
        });
}

TEST(WakingInterleavings, ResultIsFoundOrItsNodeIsWoken) {
    const Exploration result = explore_results<ModelAtomic>();
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.runs, 10U);
    EXPECT_NE(explore_results<RelaxedModelAtomic>().failure, "");
}

// ---- a loop is over ----------------------------------------------------------------------------

/// Two tasks in a loop; the first makes one more of itself, by way of a lane to the second node.
template <template <class> class Atomic>
struct Circle {
    pattern::BasicCredits<Atomic> credits;
    SpscRing<Watched, ModelAtomic> lane{2};
    Watched work[3];
    bool woken = false;
    bool over = false;
    int left = 3;

    Circle() { credits.take(2); }
    void leave(int task) {
        work[task] = Watched(task);
        if (credits.give_back(1)) woken = true;
    }
};

template <template <class> class Atomic>
Exploration explore_circle() {
    using State = Circle<Atomic>;
    Explorer explorer;
    return explorer.run<State>([] { return std::make_unique<State>(); },
                               {[](State& state) {
                                    state.credits.take(1);
                                    Watched more(7);
                                    (void)state.lane.try_push(std::move(more));
                                    state.leave(0);
                                },
                                [](State& state) {
                                    state.leave(1);
                                    Watched task;
                                    if (state.lane.try_pop(task) == PopResult::ok) state.leave(2);
                                },
                                [](State& state) {
                                    for (int look = 0; look < 2 && !state.over; ++look)
                                        state.over = state.credits.over();
                                    if (!state.over) return;
                                    // The entry ends the loop: a reader of what was done must see
                                    // all of it.
                                    for (const Watched& done : state.work) (void)done.get();
                                }},
                               [](State& state) -> std::string {
                                   Watched task;
                                   const bool waits = state.lane.try_pop(task) == PopResult::ok;
                                   if (waits && state.over) return "over with a task in the lane";
                                   if (waits == state.woken)
                                       return "woken for the last credit, and only for that";
                                   return "";
                               });
}

TEST(WakingInterleavings, LoopIsOverWhenNoTaskIsInIt) {
    const Exploration result = explore_circle<ModelAtomic>();
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.runs, 100U);
    EXPECT_NE(explore_circle<RelaxedModelAtomic>().failure, "");
}

}  // namespace
}  // namespace strid::test
