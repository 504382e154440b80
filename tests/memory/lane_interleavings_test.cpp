// SPDX-License-Identifier: Apache-2.0
//
// The lanes of memory and the starvation hand-shake in every interleaving, and with every stale
// value that the memory model allows, on small programs. The pieces carry watched data, so that a
// missing happens-before between the last use by the consumer and the reuse by the owner is a
// failure as well.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/memory/free_lane.hpp>
#include <strid/engine/memory/return_lane.hpp>
#include <strid/engine/memory/starved_flag.hpp>

#include "model_atomic_rmw.hpp"

namespace strid::memory {
namespace {

using test::Exploration;
using test::Explorer;
using test::ModelAtomicRmw;
using test::RelaxedModelAtomicRmw;
using test::Watched;

struct Piece {
    Piece* next = nullptr;
    Watched use;
    int taken = 0;
};

template <template <class> class Atomic>
struct LaneState {
    std::array<Piece, 4> pieces;
    ReturnLane<Piece, Atomic> lane{2};

    void give(std::size_t index) {
        pieces[index].use = Watched(1);
        lane.give(&pieces[index]);
    }
    std::size_t take() {
        std::size_t count = 0;
        for (Piece* piece = lane.take_all(); piece != nullptr; ++count) {
            Piece* const next = piece->next;
            piece->use = Watched(2);
            ++piece->taken;
            piece = next;
        }
        return count;
    }
};

template <template <class> class Atomic>
Exploration explore_return_lane() {
    using State = LaneState<Atomic>;
    return Explorer{}.run<State>([] { return std::make_unique<State>(); },
                                 {[](State& state) {
                                      for (std::size_t i = 0; i < 3; ++i) state.give(i);
                                      state.lane.flush();
                                      state.give(3);
                                      state.lane.flush();
                                  },
                                  [](State& state) {
                                      for (int round = 0; round < 3; ++round) state.take();
                                  }},
                                 [](State& state) -> std::string {
                                     state.take();
                                     for (const Piece& piece : state.pieces) {
                                         if (piece.taken != 1) return "not taken exactly once";
                                     }
                                     return state.lane.is_valid() ? "" : "lane not valid";
                                 });
}

TEST(ReturnLaneInterleavings, every_piece_is_taken_once_and_ordered) {
    const Exploration seen = explore_return_lane<ModelAtomicRmw>();
    EXPECT_EQ(seen.failure, "");
    EXPECT_GT(seen.runs, 50U);
}

TEST(ReturnLaneInterleavings, without_orders_the_explorer_finds_the_race) {
    EXPECT_NE(explore_return_lane<RelaxedModelAtomicRmw>().failure.find("race"), std::string::npos);
}

// Memory as the slab allocator gives it: the first bytes may be overwritten by the lane.
struct Memory {
    alignas(16) std::array<std::byte, 16> bytes;
    Watched use;
    int taken = 0;
};

template <template <class> class Atomic>
struct FreeState {
    std::array<Memory, 5> memory;
    FreeLane<Atomic> lane{2};

    std::size_t take() {
        return lane.take_all([](void* bytes) {
            auto* const piece = static_cast<Memory*>(bytes);
            piece->use = Watched(2);
            ++piece->taken;
        });
    }
};

template <template <class> class Atomic>
Exploration explore_free_lane() {
    using State = FreeState<Atomic>;
    return Explorer{}.run<State>([] { return std::make_unique<State>(); },
                                 {[](State& state) {
                                      for (Memory& piece : state.memory) {
                                          piece.use = Watched(1);
                                          state.lane.give(&piece);
                                      }
                                  },
                                  [](State& state) {
                                      for (int round = 0; round < 2; ++round) state.take();
                                  }},
                                 [](State& state) -> std::string {
                                     state.take();
                                     for (const Memory& piece : state.memory) {
                                         if (piece.taken != 1) return "not taken exactly once";
                                     }
                                     return "";
                                 });
}

TEST(FreeLaneInterleavings, every_object_is_taken_once_also_when_the_ring_overflows) {
    const Exploration seen = explore_free_lane<ModelAtomicRmw>();
    EXPECT_EQ(seen.failure, "");
    EXPECT_GT(seen.runs, 50U);
}

TEST(FreeLaneInterleavings, without_orders_the_explorer_finds_the_race) {
    EXPECT_NE(explore_free_lane<RelaxedModelAtomicRmw>().failure.find("race"), std::string::npos);
}

template <template <class> class Atomic>
struct StarvingState {
    std::array<Piece, 2> pieces;
    std::array<ReturnLane<Piece, Atomic>, 2> lanes;
    StarvedFlag<Atomic> flag;
    bool waits = false;
    std::size_t collected = 0;
    std::array<bool, 2> woke{};

    bool collect() {
        for (auto& lane : lanes) {
            for (Piece* piece = lane.take_all(); piece != nullptr; piece = piece->next) ++collected;
        }
        return collected != 0;
    }
    void consume(std::size_t lane) {
        lanes[lane].give(&pieces[lane]);
        woke[lane] = flag.take();
    }
};

template <template <class> class Atomic>
Exploration explore_starvation() {
    using State = StarvingState<Atomic>;
    return Explorer{}.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) { state.waits = state.flag.set([&state] { return state.collect(); }); },
         [](State& state) { state.consume(0); }, [](State& state) { state.consume(1); }},
        [](State& state) -> std::string {
            const int wakers = int{state.woke[0]} + int{state.woke[1]};
            if (state.waits && wakers != 1) return "the owner waits and is not woken exactly once";
            if (!state.waits && state.collected == 0) return "the owner goes on with nothing";
            return wakers <= 1 ? "" : "woken twice";
        });
}

TEST(StarvedFlagInterleavings, an_owner_that_waits_is_woken_exactly_once) {
    const Exploration seen = explore_starvation<ModelAtomicRmw>();
    EXPECT_EQ(seen.failure, "");
    EXPECT_GT(seen.runs, 50U);
}

TEST(StarvedFlagInterleavings, without_orders_the_explorer_finds_the_lost_wake_up) {
    EXPECT_NE(explore_starvation<RelaxedModelAtomicRmw>().failure.find("not woken"),
              std::string::npos);
}

}  // namespace
}  // namespace strid::memory
