// SPDX-License-Identifier: Apache-2.0
//
// The place that text is written to: a file, a pipe, a terminal, standard output ("-"), or a
// descriptor of the process (/dev/stdout; writing continues at its position and truncates nothing).
// Owns the descriptors that it opens, never standard output. One thread at a time, except for
// may_block().
//
// Invariants: a plain file is complete or unchanged (whole_file.hpp), unless it is written live. A
// wait for a reader (to open a named pipe, or to make room in a full one) ends when `interrupted`
// is set. A failed write never raises a signal: SIGPIPE is blocked, in this thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <strid/base/whole_file.hpp>

namespace strid {

/// When the text appears in a plain file.
enum class Writing : unsigned char {
    whole,  ///< at the end of a run that did not fail; until then the old content stands
    live    ///< at once, from the start: `tail -f` follows it, and a failed run leaves a part
};

/// The destination of a sink. Owns the descriptor. Threads: one at a time.
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
    /// The same of one that a later run can go on with (suspend(), unfinished()); behind `before`,
    /// where an earlier run has left it, unless it is null.
    void open_to_go_on(const UnfinishedFile* before);
    /// True between open() and commit() or discard().
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// True while the text is in another file, which commit() renames.
    [[nodiscard]] bool is_beside() const noexcept { return whole_ != nullptr; }
    /// Writes all of `text`. Throws InputOutputError, and Interrupted once `interrupted` is set
    /// while it waits.
    void write(std::string_view text, const std::atomic<bool>& interrupted);
    /// A named pipe that was never written to still waits for a reader, which reads an empty
    /// stream. Closes the file; throws InputOutputError when the system reports an error that it
    /// had delayed.
    void commit(const std::atomic<bool>& interrupted);
    /// How many bytes of a plain file have been written; 0 of anything else.
    [[nodiscard]] std::uint64_t written() const noexcept;
    /// How a later run goes on with a plain file: behind no bytes where it is anything else, whose
    /// reader has them. The file need not be on the disk yet.
    [[nodiscard]] UnfinishedFile unfinished() const;
    /// The file once more, for a thread that waits until the disk has it while others write; it
    /// closes the descriptor. Negative where there is nothing to wait for. Throws InputOutputError.
    [[nodiscard]] int to_synchronize() const;
    /// Closes the file, which a later run goes on with.
    void suspend() noexcept;
    /// Closes the file. One that is written whole keeps the content that it had before open().
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
    enum class Use : unsigned char { once, to_go_on };
    void begin(Use use, const UnfinishedFile* before);
    void open_named(Use use, const UnfinishedFile* before);
    void go_on_live(const UnfinishedFile& before);
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
