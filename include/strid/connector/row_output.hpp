// SPDX-License-Identifier: Apache-2.0
//
// The replicas of a sink append whole rows of text to one output: a file (OutputFile) or a table of
// a database (transport.hpp). Owned together by the writers that share it and by the run that it
// belongs to. Any thread may call open(), append(), begin_snapshot(), close() and abandon(); a
// mutex makes each append one piece of the output.
//
// Invariants: the first open() begins the output, the close() that matches it ends it, so a graph
// that runs twice starts anew. Rows behind a snapshot that some users have begun wait until all
// have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/destination.hpp>
#include <strid/base/file_use.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid {

/// How rows stand in a file.
enum class RowFormat : std::uint8_t {
    csv,        ///< as they are given
    json_lines  ///< an object with the names of the header in each line
};

/// An output that the replicas of a sink share (connector/row_writer.hpp). Any thread.
class RowOutput : public RunScope::Result, public std::enable_shared_from_this<RowOutput> {
  public:
    /// The size of a writer's buffer.
    static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

    /// Begins the output for the first caller, with `header`, which waits for the first append()
    /// where writing may block; every caller closes or abandons once.
    /// In a run the output must be owned by a shared pointer. Throws InputOutputError.
    void open(std::string_view header = {}, RunScope* run = nullptr);
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

    /// True when a write may block for an unbounded time: a terminal, a pipe, a socket, a server.
    [[nodiscard]] virtual bool may_block() const noexcept = 0;
    /// The files that are written, for the check that a graph does not overwrite its input.
    [[nodiscard]] virtual std::vector<FileUse> uses() const = 0;

  protected:
    // Each is called under mutex_.
    /// The output begins anew: run_ and header_ are set.
    virtual void begin() = 0;
    [[nodiscard]] virtual bool is_open() const noexcept = 0;  ///< Between begin() and its end.
    /// Rows of whole lines, none or more; what stands in header_ goes before them.
    virtual void write(std::string_view rows) = 0;
    /// All rows that were written are before this snapshot.
    virtual void cut(std::uint64_t snapshot) = 0;
    /// The last user has closed.
    virtual void end() = 0;
    /// The last user has closed, and rows are missing.
    virtual void let_go() noexcept = 0;

    /// Begins it, for callers that do not close.
    void begin_for(std::string_view header, RunScope* run);

    std::mutex mutex_;  ///< Of all below.
    // Under mutex_:
    std::size_t users_ = 0;       ///< That have not closed.
    RunScope* run_ = nullptr;     ///< While it is open.
    std::string header_;          ///< That is still to be written.
    bool has_header_ = false;     ///< There is one, or there are rows of an earlier run.
    std::uint64_t snapshot_ = 0;  ///< The last one that every user has begun.

  private:
    void end_snapshot(std::uint64_t snapshot);

    // Under mutex_:
    bool rows_missing_ = false;     // a writer was abandoned
    std::uint64_t next_ = 0;        // the snapshot that some have begun; 0: none
    std::size_t users_behind_ = 0;  // those of them that have not closed
    std::string rows_behind_;       // of theirs
};

/// The output of this name: a file, or where the name is the address of a table (transport.hpp),
/// that. Throws GraphError for an address that nothing serves, and for one with a format, which
/// stands in the address itself.
[[nodiscard]] std::shared_ptr<RowOutput> make_row_output(std::string name, Writing writing,
                                                         RowFormat format = RowFormat::csv);

}  // namespace strid
