// SPDX-License-Identifier: Apache-2.0
//
// How another number of replicas goes on from a state that is not by key: an operator or a function
// with `state()` has two more members,
//
//     void merge_state(const Mine& other);
//     void split_state(StateShare share);
//
// At a start from a snapshot each new replica loads the states of all replicas that there were and
// had not ended, each into an object as it was made. It merges them into one, and then keeps its
// share of the whole. The shares of all replicas together must be the whole: of a count, all of it
// in replica 0 and nothing in the others.
//
// Without them, and for sources, another number of replicas is an error. Threads: one.
#pragma once

#include <cstddef>

namespace strid {

/// One of several replicas, which share a state.
struct StateShare {
    std::size_t replica = 0;   ///< From 0 on.
    std::size_t replicas = 1;  ///< How many share it.
};

/// A class that has both members.
template <class Class>
concept MergesState = requires(Class& one, const Class& other, StateShare share) {
    one.merge_state(other);
    one.split_state(share);
};

}  // namespace strid
