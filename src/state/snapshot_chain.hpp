// SPDX-License-Identifier: Apache-2.0
//
// Snapshots that build on others: the states of one node in the files of a chain become one state.
//
// Owns nothing. Threads: one.
#pragma once

#include <cstddef>
#include <span>

#include <strid/state/bytes.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid {

/// The state of a node in a file.
struct StateInFile {
    const SnapshotNode* node;
    std::span<const std::byte> bytes;
};

/// Of a chain, oldest first, the last of which is that of `node`; this describes the result then.
/// Throws StateError. O(bytes).
[[nodiscard]] StateBytes joined_state(std::span<const StateInFile> chain, SnapshotNode& node);

}  // namespace strid
