// SPDX-License-Identifier: Apache-2.0
//
// The store of a replica as a database of RocksDB: without a log, because a run that is killed
// begins its store anew, from a checkpoint or empty.
//
// Threads: one at a time. RocksDB writes files by threads of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include <strid/rocksdb/rocksdb.hpp>
#include <strid/state/cold_store.hpp>

#include "replica_folder.hpp"

namespace strid::rocksdb {

class Database final : public ColdStore {
  public:
    /// Throws InputOutputError.
    Database(std::shared_ptr<RootFolder> root, const ColdStorePlace& place,
             const StoreOptions& options);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database() override;

    void read(std::span<const Bytes> keys, const Found& found) override;
    void write(std::span<const Change> changes) override;
    [[nodiscard]] std::unique_ptr<Cursor> all() override;
    CheckpointFiles checkpoint(std::uint64_t snapshot) override;
    void restore(const Checkpoint& from) override;
    [[nodiscard]] std::unique_ptr<Cursor> read_checkpoint(const Checkpoint& from) override;
    void drop_checkpoint(std::uint64_t snapshot) override;
    void keep_checkpoints(std::span<const std::uint64_t> snapshots) override;

  private:
    void open(bool is_new);
    void expect_room() const;
    void check(const ::rocksdb::Status& status, const char* what) const;

    std::shared_ptr<RootFolder> root_;
    ReplicaFolder folder_;
    ::rocksdb::Options options_;
    std::unique_ptr<::rocksdb::DB> database_;
    std::vector<::rocksdb::Slice> keys_;  // memory of read()
    std::vector<::rocksdb::PinnableSlice> states_;
    std::vector<::rocksdb::Status> answers_;
};

/// In one sentence why the database in this folder cannot be opened; empty: it can. Only its list
/// of files is read, and whether they are there with their lengths. Throws InputOutputError.
[[nodiscard]] std::string fault_of_database(const std::string& path);

}  // namespace strid::rocksdb
