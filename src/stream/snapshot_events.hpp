// SPDX-License-Identifier: Apache-2.0
//
// The events of snapshots in the log of the process (base/log.hpp).
#pragma once

#include <cstdint>
#include <string>

#include <strid/state/snapshot_folder.hpp>

namespace strid {

/// The snapshot that was begun at `begun_ns` (now_ns()) is stored.
void log_stored(const SnapshotDescription& snapshot, std::int64_t begun_ns);
/// The run goes on from the snapshot of this number.
void log_restored(const std::string& graph, std::uint64_t number);

}  // namespace strid
