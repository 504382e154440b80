// SPDX-License-Identifier: Apache-2.0
//
// The current version of a table: one thread exchanges it as a whole while others look up in it. A
// reader takes the version once for a batch and gives it back after the batch; the last reader of
// an old version frees it.
//
//     CurrentTable<LookupTable<int, std::string>> names{LookupTable<int, std::string>{...}};
//     std::move(stream).lookup<&Order::customer>(names, add_name)
//     names.exchange(LookupTable<int, std::string>{...});     // also while the graph runs
//
// A handle: copies stand for the same table. Threads: any. Invariant: a version is never changed;
// readers of one version see all of it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <strid/base/file_use.hpp>

namespace strid {

/// The version of a table that is in force. Copies share it. Threads: any.
template <class Table>
class CurrentTable {
  public:
    /// The type of the table.
    using table_type = Table;

    /// The version that a reader holds for a batch.
    struct Taken {
        /// The table, which stays as it is as long as it is held.
        std::shared_ptr<const Table> table;
        std::uint64_t version;       ///< How many versions were in force before it.
        std::exception_ptr failure;  ///< The reader throws it, to end its run.
    };

    /// `table` is the first version.
    explicit CurrentTable(Table table = {})
        : CurrentTable(std::make_shared<const Table>(std::move(table))) {}
    /// The same, without a copy.
    explicit CurrentTable(std::shared_ptr<const Table> table)
        : state_(std::make_shared<State>(std::move(table))) {}

    /// The current version. Takes a lock for some nanoseconds.
    [[nodiscard]] Taken take() const {
        const std::lock_guard lock{state_->mutex};
        return {state_->table, state_->version, state_->failure};
    }
    /// The version in force. Takes a lock: once a batch, not once a record.
    [[nodiscard]] std::shared_ptr<const Table> table() const { return take().table; }
    /// The number of versions before this one.
    [[nodiscard]] std::uint64_t version() const { return take().version; }

    /// Readers see the new table from their next batch on. Clears a failure.
    void exchange(Table table) { exchange(std::make_shared<const Table>(std::move(table))); }
    /// The same, without a copy.
    void exchange(std::shared_ptr<const Table> table) {
        // The old version is freed outside the lock, when no batch holds it any more.
        {
            const std::lock_guard lock{state_->mutex};
            state_->table.swap(table);
            ++state_->version;
            state_->failure = nullptr;
        }
    }
    /// Runs that use the table end with this failure, at the end of a batch.
    void fail(std::exception_ptr failure) {
        const std::lock_guard lock{state_->mutex};
        state_->failure = std::move(failure);
    }

    /// For TableFile: an owner that lives as long as the table is used, and the table's file.
    void keep(std::shared_ptr<void> owner, FileUse file) {
        owner_ = std::move(owner);
        files_ = {std::move(file)};
    }
    /// The files that the table is read from, where its owner has said so.
    [[nodiscard]] const std::vector<FileUse>& files() const noexcept { return files_; }

  private:
    struct State {
        explicit State(std::shared_ptr<const Table> first) : table(std::move(first)) {}

        std::mutex mutex;
        std::shared_ptr<const Table> table;  // guarded, as all
        std::uint64_t version = 0;
        std::exception_ptr failure;
    };

    std::shared_ptr<State> state_;
    std::shared_ptr<void> owner_;
    std::vector<FileUse> files_;
};

}  // namespace strid
