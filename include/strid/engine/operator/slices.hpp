// SPDX-License-Identifier: Apache-2.0
//
// Parts of a state that a snapshot saves in slices, between the batches of their node, while
// records go on: at the barrier such a part is as the snapshot has it, and whatever is about to be
// changed behind the barrier is saved first (operator/keyed_state.hpp).
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

#include <strid/state/bytes.hpp>

namespace strid::operators {

/// How much is saved between two batches: a slice ends when it has so many entries or bytes.
struct SliceSize {
    std::size_t entries = 512;
    std::size_t bytes = std::size_t{64} << 10;
};

/// A part that is being saved.
class SlicedState {
  public:
    SlicedState() = default;
    SlicedState(const SlicedState&) = delete;
    SlicedState& operator=(const SlicedState&) = delete;
    virtual ~SlicedState() = default;
    /// Saves a slice. True once all is saved.
    [[nodiscard]] virtual bool save_slice(const SliceSize& size) = 0;
    /// Behind the last slice: the bytes, as the codec of the part loads them.
    [[nodiscard]] virtual StateBytes take() = 0;
};

/// Parts that are saved in slices: from the call on.
template <class Part>
concept SavedInSlices = requires(Part& part) {
    { part.in_slices() } -> std::same_as<std::unique_ptr<SlicedState>>;
};

}  // namespace strid::operators
