// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints that stores of states keep for a snapshot (state/cold_store.hpp), as the snapshot
// describes them: their files with their lengths, so that it can be seen without the store whether
// they are there.
//
// Owns nothing. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strid {

/// A file of a checkpoint.
struct CheckpointFile {
    std::string name = {};    ///< In the folder of the checkpoint.
    std::uint64_t bytes = 0;  ///< Its length.
};

/// The place of a checkpoint.
struct CheckpointFiles {
    std::string folder = {};  ///< As the program named it; empty: the store has it in no folder.
    std::vector<CheckpointFile> files = {};  ///< All that the folder has.
};

/// A checkpoint of a snapshot: the states of one replica by key.
struct SnapshotCheckpoint {
    std::string operator_name = {};  ///< Of the operator in its graph.
    std::uint64_t replica = 0;       ///< From 0 on.
    CheckpointFiles where = {};      ///< As the store gave it.
};

/// In one sentence why the files in this folder are not those of a checkpoint; empty: they are
/// there, with their lengths, and may be read.
[[nodiscard]] std::string fault_of_files(const std::string& folder,
                                         std::span<const CheckpointFile> files);

}  // namespace strid
