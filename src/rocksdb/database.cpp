// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include <cstdarg>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <strid/base/error.hpp>
#include <strid/state/bytes.hpp>

namespace strid::rocksdb {

namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;

Slice slice_of(ColdStore::Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
ColdStore::Bytes bytes_of(const Slice& slice) {
    return std::as_bytes(std::span(slice.data(), slice.size()));
}

[[noreturn]] void fail(const std::string& path, const char* what, const Status& status) {
    throw InputOutputError(fmt::format("{}: {}: {}", path, what, status.ToString()));
}

/// Without one, RocksDB writes a log into each folder that it opens, also a checkpoint's.
class NoLog final : public ::rocksdb::Logger {
  public:
    using Logger::Logv;
    void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

/// For lookups of whole keys, of which many are not there.
::rocksdb::Options options_for(const StoreOptions& wanted) {
    ::rocksdb::Options options;
    options.write_buffer_size = wanted.buffer_bytes / 2;
    options.max_write_buffer_number = 2;
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = 0.02;
    options.allow_concurrent_memtable_write = false;
    options.compression = ::rocksdb::kNoCompression;
    options.max_background_jobs = 2;
    options.max_open_files = 512;
    options.info_log = std::make_shared<NoLog>();
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    ::rocksdb::BlockBasedTableOptions table;
    table.block_cache = ::rocksdb::NewLRUCache(wanted.cache_bytes);
    table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(10));
    table.optimize_filters_for_memory = true;
    table.data_block_index_type = ::rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

/// RocksDB then looks whether the files of its list are there, with their lengths.
std::pair<std::unique_ptr<::rocksdb::DB>, Status> open_to_read(::rocksdb::Options options,
                                                               const std::string& path) {
    options.create_if_missing = false;
    options.error_if_exists = false;
    ::rocksdb::DB* opened = nullptr;
    Status status = ::rocksdb::DB::OpenForReadOnly(options, path, &opened);
    return {std::unique_ptr<::rocksdb::DB>(opened), std::move(status)};
}

class Entries final : public ColdStore::Cursor {
  public:
    /// `owned` is null where another owns the database.
    Entries(std::string path, ::rocksdb::DB& database, std::unique_ptr<::rocksdb::DB> owned)
        : path_(std::move(path)), owned_(std::move(owned)) {
        ::rocksdb::ReadOptions options;
        options.fill_cache = false;
        options.readahead_size = std::size_t{1} << 20;
        entries_.reset(database.NewIterator(options));
    }

    bool next() override {
        if (!is_begun_) {
            entries_->SeekToFirst();
            is_begun_ = true;
        } else if (entries_->Valid()) {
            entries_->Next();
        }
        if (entries_->Valid()) return true;
        if (!entries_->status().ok()) fail(path_, "cannot read states", entries_->status());
        return false;
    }
    [[nodiscard]] ColdStore::Bytes key() const override { return bytes_of(entries_->key()); }
    [[nodiscard]] ColdStore::Bytes state() const override { return bytes_of(entries_->value()); }

  private:
    std::string path_;
    std::unique_ptr<::rocksdb::DB> owned_;  // outlives the iterator
    std::unique_ptr<::rocksdb::Iterator> entries_;
    bool is_begun_ = false;
};

}  // namespace

Database::Database(std::shared_ptr<RootFolder> root, const ColdStorePlace& place,
                   const StoreOptions& options)
    : root_(std::move(root)), folder_(*root_, place), options_(options_for(options)) {
    open(true);
}

Database::~Database() = default;

void Database::check(const Status& status, const char* what) const {
    if (!status.ok()) fail(folder_.live(), what, status);
}

void Database::open(bool is_new) {
    options_.create_if_missing = is_new;
    options_.error_if_exists = is_new;
    ::rocksdb::DB* opened = nullptr;
    check(::rocksdb::DB::Open(options_, folder_.live(), &opened),
          "cannot open the store of states");
    database_.reset(opened);
}

void Database::read(std::span<const Bytes> keys, const Found& found) {
    const auto failed = [this](const Status& status) { check(status, "cannot read states"); };
    ::rocksdb::ColumnFamilyHandle* const family = database_->DefaultColumnFamily();
    keys_.clear();
    for (const Bytes key : keys) keys_.push_back(slice_of(key));
    if (states_.size() < keys.size()) states_ = std::vector<::rocksdb::PinnableSlice>(keys.size());
    answers_.assign(keys.size(), Status::OK());
    if (keys.size() == 1) {
        answers_[0] = database_->Get({}, family, keys_[0], states_.data());
    } else {
        database_->MultiGet({}, family, keys_.size(), keys_.data(), states_.data(),
                            answers_.data());
    }
    for (std::size_t i = 0; i != keys.size(); ++i) {
        if (answers_[i].ok()) {
            found(i, bytes_of(states_[i]));
            states_[i].Reset();
        } else if (!answers_[i].IsNotFound()) {
            failed(answers_[i]);
        }
    }
}

void Database::write(std::span<const Change> changes) {
    ::rocksdb::WriteBatch batch;
    for (const Change& change : changes) {
        check(change.state ? batch.Put(slice_of(change.key), slice_of(*change.state))
                           : batch.Delete(slice_of(change.key)),
              "cannot write states");
    }
    ::rocksdb::WriteOptions options;
    options.disableWAL = true;
    check(database_->Write(options, &batch), "cannot write states");
}

std::unique_ptr<ColdStore::Cursor> Database::all() {
    return std::make_unique<Entries>(folder_.live(), *database_, nullptr);
}

/// A flush that fails is the end of a database: it takes no more changes, also when there is room
/// again. So a disk that is full is found before.
void Database::expect_room() const {
    std::uint64_t buffered = 0;
    database_->GetIntProperty(::rocksdb::DB::Properties::kCurSizeAllMemTables, &buffered);
    constexpr std::uint64_t for_lists = std::uint64_t{1} << 20;
    folder_.expect_room(buffered + buffered / 8 + for_lists);
}

// RocksDB makes it beside its name, and renames it when its files are on the disk.
CheckpointFiles Database::checkpoint(std::uint64_t snapshot) {
    folder_.remove_checkpoint(snapshot);
    expect_room();
    ::rocksdb::Checkpoint* made = nullptr;
    const char* const what = "cannot make a checkpoint of the states";
    check(::rocksdb::Checkpoint::Create(database_.get(), &made), what);
    const std::unique_ptr<::rocksdb::Checkpoint> owned(made);
    check(owned->CreateCheckpoint(folder_.checkpoint(snapshot)), what);
    folder_.synchronise();
    return folder_.files_of(snapshot);
}

void Database::restore(const Checkpoint& from) {
    const std::string path = folder_.existing(from);
    database_.reset();
    std::error_code error;
    std::filesystem::remove_all(folder_.live(), error);
    if (error) throw InputOutputError(folder_.live() + ": cannot be removed: " + error.message());
    copy_database(path, folder_.live());
    open(false);
}

std::unique_ptr<ColdStore::Cursor> Database::read_checkpoint(const Checkpoint& from) {
    std::string path = folder_.existing(from);
    auto [opened, status] = open_to_read(options_, path);
    if (!status.ok()) fail(path, "cannot open the checkpoint of states", status);
    ::rocksdb::DB& database = *opened;
    return std::make_unique<Entries>(std::move(path), database, std::move(opened));
}

void Database::drop_checkpoint(std::uint64_t snapshot) {
    folder_.remove_checkpoint(snapshot);
}

void Database::keep_checkpoints(std::span<const std::uint64_t> snapshots) {
    folder_.keep_checkpoints(snapshots);
}

std::string fault_of_database(const std::string& path) {
    const auto [opened, status] = open_to_read(options_for({}), path);
    if (status.ok()) return {};
    // Of the disk, or of this process, such as too many open files.
    if (status.IsIOError() && !status.IsPathNotFound()) {
        fail(path, "cannot open the checkpoint of states", status);
    }
    return fmt::format("{}: {}", path, status.ToString());
}

}  // namespace strid::rocksdb
