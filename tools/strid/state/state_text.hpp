// SPDX-License-Identifier: Apache-2.0
//
// The texts of `strid state` about snapshots. Control characters of names are replaced. Functions
// without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strid/state/snapshot_folder.hpp>

#include "result_file.hpp"

namespace strid::tool {

/// The line above those of a list.
[[nodiscard]] std::string list_header();
/// A snapshot as a line of a list.
[[nodiscard]] std::string list_line(const SnapshotDescription& description,
                                    std::uint64_t file_bytes);
/// One whose description cannot be read.
[[nodiscard]] std::string list_line(std::uint64_t number, std::string_view fault);
/// All that a snapshot says of itself, several lines.
[[nodiscard]] std::string description_text(const SnapshotDescription& description,
                                           const std::string& file, std::uint64_t file_bytes);
/// "counts, replica 1: 4,096 bytes in 5 files, in states/counts/0/0000000007".
[[nodiscard]] std::string checkpoint_text(const SnapshotCheckpoint& checkpoint);
/// "out.csv: 120 bytes, in /tmp/out.csv.XXXXXXXXXX.strid-unfinished".
[[nodiscard]] std::string result_text(const ResultFile& result);

}  // namespace strid::tool
