// SPDX-License-Identifier: Apache-2.0
//
// What text is written to: a file, a pipe, a terminal, standard output ("-"), or a descriptor of
// the process (/dev/stdout, which goes on where that stands and truncates nothing). Owns what it
// opens, never standard output. One thread at a time, except for may_block().
//
// Laws: a plain file is whole or not there (whole_file.hpp), unless it is written live. A wait for
// a reader ends when `interrupted` is set: for one that opens a named pipe, or reads from a full
// one. A write that fails is never a signal: SIGPIPE is held back, in this thread only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include <strid/base/whole_file.hpp>

namespace strid {

/// When a plain file gets what is written to it.
enum class Writing : unsigned char {
    whole,  ///< at the end of a run that did not fail; until then it is as it was before
    live    ///< at once, from the start: `tail -f` follows it, and a failed run leaves a part
};

/// What a sink writes to. Owns the descriptor. Threads: one at a time.
class Destination {
  public:
    /// Opens nothing yet. `path` is a file, a pipe, a device or "-", standard output.
    Destination(std::string path, Writing writing);
    /// Discards what is not committed.
    ~Destination();
    Destination(const Destination&) = delete;
    Destination& operator=(const Destination&) = delete;

    /// Creates or truncates a file that is written live. Does not wait for the reader of a named
    /// pipe: the first write does. Throws InputOutputError.
    void open();
    /// True between open() and commit() or discard().
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// What is written so far is under another name until commit().
    [[nodiscard]] bool is_beside() const noexcept { return whole_ != nullptr; }
    /// Writes all of `text`. Throws InputOutputError, and Interrupted once `interrupted` is set
    /// while it waits.
    void write(std::string_view text, const std::atomic<bool>& interrupted);
    /// A named pipe that was never written to still waits for a reader, which sees its end. Closes;
    /// throws InputOutputError when the system reports a late fault.
    void commit(const std::atomic<bool>& interrupted);
    /// Closes; a file that is to be whole is as it was before open().
    void discard() noexcept;

    /// True for pipes, terminals and sockets, whose reader may keep a write waiting.
    [[nodiscard]] bool may_block() const noexcept {
        return file_may_block(path_, StandardStream::output);
    }
    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// When what is written becomes visible, as it was given.
    [[nodiscard]] Writing writing() const noexcept { return writing_; }

  private:
    void open_named();
    void adopt(int descriptor);
    void wait_for_reader(const std::atomic<bool>& interrupted);
    void wait_for_room(const std::atomic<bool>& interrupted);
    long write_some(std::string_view text) noexcept;
    [[noreturn]] void fail(const char* what, int error) const;

    const std::string path_;
    const Writing writing_;
    std::unique_ptr<WholeFile> whole_;
    int descriptor_ = -1;
    bool open_ = false;
    bool owned_ = false;  // closes the descriptor; a whole file does so itself
    bool waits_ = false;  // for room: asks before each write
    bool is_socket_ = false;
    bool shared_flags_ = false;  // others write through it: it cannot be made not to block
};

}  // namespace strid
