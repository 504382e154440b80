// SPDX-License-Identifier: Apache-2.0
//
// A file, a pipe or standard output ("-") that several replicas of a sink append whole rows to.
// Owned together by the writers that share it and by the run that it belongs to. Any thread may
// call open(), append(), close() and abandon(); a mutex makes each append one piece of the output.
//
// Invariants: the first open() begins the output, the close() that matches it ends it, so a graph
// that runs twice starts anew. A plain file that is written whole gets its name when the run ends
// well (outside a run: by the last close()), and is as it was before if a writer was abandoned. A
// write that fails is an InputOutputError for every caller from then on, and never a signal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <strid/base/destination.hpp>
#include <strid/base/file_use.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid {

/// A file that the replicas of a sink share (connector/row_writer.hpp). Any thread.
class OutputFile final : public RunScope::Result, public std::enable_shared_from_this<OutputFile> {
  public:
    /// The size of a writer's buffer.
    static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

    /// Opens nothing yet.
    explicit OutputFile(std::string path, Writing writing = Writing::whole)
        : destination_(std::move(path), writing) {}

    /// Begins the output for the first caller, with `header`, which waits for the first append()
    /// where writing may block; every caller closes or abandons once.
    /// In a run the file must be owned by a shared pointer. Throws InputOutputError.
    void open(std::string_view header = {}, RunScope* run = nullptr);
    /// The same for callers that come one after the other until the run ends, and do not close.
    void open_until_commit(RunScope& run);
    /// Writes all of `rows`, and before the first of them the header. Throws InputOutputError;
    /// Interrupted where the run is cut short while a reader keeps it waiting.
    void append(std::string_view rows) { append(rows, 0); }
    /// The same by a user whose last snapshot has this number: rows behind a snapshot wait here
    /// until every user has begun it.
    void append(std::string_view rows, std::uint64_t snapshot);
    /// A user has appended all rows before the snapshot of this number.
    void begin_snapshot(std::uint64_t snapshot);
    /// The last one ends the output; throws InputOutputError when the system reports a late fault.
    void close() { close(0); }
    /// The same by one whose last snapshot has this number.
    void close(std::uint64_t snapshot);
    /// Instead of close(), where rows are missing.
    void abandon() noexcept;
    /// Sets the header, unless there is one or an earlier run has written rows. Before the first
    /// row of this run.
    void begin_with(std::string_view header);
    /// Opens it outside a run where it is not open: then true, and the caller closes.
    [[nodiscard]] bool open_if_closed();

    /// Gives the file its name. By the run, when it has ended well.
    void commit() override;
    /// Removes what was written. By the run, when it failed.
    void discard() noexcept override;
    // Snapshots.
    [[nodiscard]] std::string name() const override { return path(); }
    void prepare(std::uint64_t snapshot, StateWriter& writer) override;
    void suspend() noexcept override;

    /// True when a write may block for an unbounded time: a terminal, a pipe, a socket. Never for
    /// /dev/null.
    [[nodiscard]] bool may_block() const noexcept { return destination_.may_block(); }
    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return destination_.path(); }
    /// The use of the file, for the check that a graph does not overwrite its input.
    [[nodiscard]] FileUse use() const;

  private:
    void begin(std::string_view header, RunScope* run);
    void let_go() noexcept;
    void end_snapshot(std::uint64_t snapshot);
    void write(std::string_view rows);
    void finish();

    Destination destination_;
    std::mutex mutex_;
    // Under mutex_:
    std::size_t users_ = 0;
    RunScope* run_ = nullptr;    // while it is open
    bool rows_missing_ = false;  // a writer was abandoned
    std::string header_;         // that is still to be written
    bool has_header_ = false;    // there is one, or there are rows of an earlier run
    std::exception_ptr failure_;
    std::uint64_t snapshot_ = 0;    // the last one that every user has begun
    std::uint64_t written_ = 0;     // bytes before it
    std::uint64_t next_ = 0;        // the one that some have begun; 0: none
    std::size_t users_behind_ = 0;  // those of them that have not closed
    std::string rows_behind_;       // of theirs
};

}  // namespace strid
