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
#include <cstdint>
#include <memory>

#include <strid/state/bytes.hpp>

namespace strid::operators {

/// The extent of a snapshot of a part that can be saved by its changes.
enum class Saves : std::uint8_t {
    all,
    changes  ///< Since the snapshot before, if they are known; else all.
};

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
    /// Behind the last slice: the bytes, as the codec of the part loads them; of changes, bytes to
    /// be put behind those of the snapshots before (state/snapshot_folder.hpp).
    [[nodiscard]] virtual StateBytes take() = 0;
    /// Whether they are changes since the snapshot before.
    [[nodiscard]] virtual bool has_changes_only() const noexcept = 0;
};

/// Parts that are saved in slices: from the call on.
template <class Part>
concept SavedInSlices = requires(Part& part, Saves saves) {
    { part.in_slices(saves) } -> std::same_as<std::unique_ptr<SlicedState>>;
};

}  // namespace strid::operators
