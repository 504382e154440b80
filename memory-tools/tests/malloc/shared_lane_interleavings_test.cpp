// SPDX-License-Identifier: Apache-2.0
//
// The return lane of a heap in every interleaving, and with every stale value that the memory model
// allows, on small programs: two threads that give chains and one that takes; a thread that leaves
// its heap while another one gives.
#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "shared_lane.hpp"
#include "tests/memory/model_atomic_rmw.hpp"

namespace strid::slab_malloc {
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
    std::array<Piece, 5> pieces;
    SharedLane<Piece, Atomic> lane;

    void give(std::size_t first, std::size_t last) {
        for (std::size_t at = first; at <= last; ++at) {
            pieces[at].use = Watched(1);
            if (at < last) pieces[at].next = &pieces[at + 1];
        }
        lane.give(&pieces[first], &pieces[last]);
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
Exploration explore_lane() {
    using State = LaneState<Atomic>;
    return Explorer{}.run<State>([] { return std::make_unique<State>(); },
                                 {[](State& state) {
                                      state.give(0, 1);
                                      state.give(2, 2);
                                  },
                                  [](State& state) { state.give(3, 4); },
                                  [](State& state) {
                                      for (int round = 0; round < 2; ++round) state.take();
                                  }},
                                 [](State& state) -> std::string {
                                     state.take();
                                     for (const Piece& piece : state.pieces) {
                                         if (piece.taken != 1) return "not taken exactly once";
                                     }
                                     return "";
                                 });
}

TEST(SharedLaneInterleavings, every_piece_is_taken_once_and_ordered) {
    const Exploration seen = explore_lane<ModelAtomicRmw>();
    EXPECT_EQ(seen.failure, "");
    EXPECT_GT(seen.runs, 50U);
}

TEST(SharedLaneInterleavings, without_orders_the_explorer_finds_the_race) {
    EXPECT_NE(explore_lane<RelaxedModelAtomicRmw>().failure.find("race"), std::string::npos);
}

// A thread leaves its heap: it marks the heap idle, and then reads the lane. Another gives a piece
// and then checks whether the heap is idle. A piece that neither sees would stay in the lane of an
// idle heap.
template <template <class> class Atomic>
struct LeavingState {
    LaneState<Atomic> lane;
    Residence<Atomic> residence;
    bool taken_by_leaver = false;
    std::array<bool, 2> saw_idle{};

    void give(std::size_t piece) {
        lane.give(piece, piece);
        saw_idle[piece] = residence.is_idle();
    }
};

template <template <class> class Atomic>
Exploration explore_leaving() {
    using State = LeavingState<Atomic>;
    return Explorer{}.run<State>(
        [] { return std::make_unique<State>(); },
        {[](State& state) {
             state.residence.set(Residence<Atomic>::Place::idle);
             state.lane.take();
         },
         [](State& state) { state.give(0); }, [](State& state) { state.give(1); }},
        [](State& state) -> std::string {
            for (std::size_t piece = 0; piece < 2; ++piece) {
                const bool taken = state.lane.pieces[piece].taken == 1;
                if (!taken && !state.saw_idle[piece]) return "left behind";
            }
            return "";
        });
}

TEST(ResidenceInterleavings, nothing_is_left_behind_in_an_idle_heap) {
    const Exploration seen = explore_leaving<ModelAtomicRmw>();
    EXPECT_EQ(seen.failure, "");
    EXPECT_GT(seen.runs, 50U);
}

TEST(ResidenceInterleavings, without_orders_the_explorer_finds_what_is_left_behind) {
    EXPECT_NE(explore_leaving<RelaxedModelAtomicRmw>().failure.find("left behind"),
              std::string::npos);
}

}  // namespace
}  // namespace strid::slab_malloc
