// SPDX-License-Identifier: Apache-2.0
//
// The result files that a snapshot names: a run that goes on from there writes on behind what it
// has written. Owns nothing. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strid/state/snapshot_folder.hpp>

namespace strid::tool {

/// A result of a run that has not ended.
struct ResultFile {
    std::string path = {};    ///< As the run was given it, from the folder it was started in.
    std::string beside = {};  ///< The file until it is complete; empty: it has its own name.
    std::uint64_t bytes = 0;  ///< At the snapshot; of a table, what waits in the snapshot for it.
    bool is_table = false;    ///< The path is the address of a table (connector/transport.hpp).
    std::optional<std::uint64_t> found_bytes = {};  ///< Of the file beside, where it is there.
    std::string fault = {};  ///< The reason why a run cannot go on with it; empty: none is seen.
};

/// The results that a snapshot names, in the order of their names.
[[nodiscard]] std::vector<ResultFile> result_files(const SnapshotDescription& description);

/// Removes the file beside, unless it is not what a run of this user has left. Throws
/// InputOutputError.
void remove_unfinished(const ResultFile& result);

}  // namespace strid::tool
