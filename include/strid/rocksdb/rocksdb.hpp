// SPDX-License-Identifier: Apache-2.0
//
// RocksDB as the store of states by key that are not in memory (operator/stored_keys.hpp); the
// library is strid::rocksdb, of the package librocksdb-dev.
//
//     #include <strid/rocksdb/rocksdb.hpp>
//
//     std::move(clicks)
//         .key_by<&Click::user>(keep_in_memory(64 << 20, rocksdb::store("states")))
//         .map(CountOfUser{}, {.name = "count"})
//
// FOLDER/count/0/live is the database of the first replica. It is made when the run begins, has no
// log, and is removed with the run; what a killed run has left is removed at the next start. With
// snapshots FOLDER/count/0 has a checkpoint for each of the two that are stored, whose files are
// links to those of the database: to go on from a snapshot takes the folder too.
//
// The folder is made for its user alone (mode 700) where it is missing; its parent is there. A
// replica's folder that has files of others, or that another run uses, is an error.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <strid/operator/stored_keys.hpp>
#include <strid/state/cold_store.hpp>
#include <strid/window/stored_process.hpp>

namespace strid::rocksdb {

/// The memory of a database, beside the states that are kept in memory.
struct StoreOptions {
    std::size_t buffer_bytes = std::size_t{32} << 20;  ///< Written, and not in a file yet.
    std::size_t cache_bytes = std::size_t{16} << 20;   ///< Blocks of files: indexes, filters, data.
};

/// Databases of RocksDB in a folder, one for each replica of an operator. Nothing is opened before
/// the run. Throws GraphError for an empty name.
[[nodiscard]] std::shared_ptr<ColdStores> store(std::string folder,
                                                const StoreOptions& options = {});

}  // namespace strid::rocksdb
