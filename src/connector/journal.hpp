// SPDX-License-Identifier: Apache-2.0
//
// The journal of one source: the text of its input passes through it, and is in a file before it is
// handed on. A run that goes on behind a snapshot reads from there what the run before it has
// accepted, then what arrives. Private to the connector room; engine/state/journal_log.hpp has the
// files.
//
// Owned by a FileSource and by the scope of its run, whose end removes the files. Threads: that of
// the source; finish() by the last of the run.
//
// Invariant: what was handed on lies in the journal before its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <strid/connector/byte_reader.hpp>
#include <strid/engine/state/journal_log.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/state/journal.hpp>

namespace strid::detail {

class Journal final : public RunScope::Result {
  public:
    /// Where a snapshot goes on.
    struct Place {
        std::uint64_t journal;     // which one
        std::uint64_t head_bytes;  // that are read before; 0: all that is before the place
        std::uint64_t bytes;
        std::uint64_t line;  // how many lines are before it, as far as is known
    };

    /// Opens the folder, and finds the end of what a run before has left there, unless this run
    /// begins anew. Throws InputOutputError, also where another source has the folder.
    Journal(JournalOptions options, RunScope& run);

    /// The number of the journal; another one each time that one begins.
    [[nodiscard]] std::uint64_t id() const noexcept { return log_.id(); }
    /// Before the first read(): the text up to the head is read, then that from the place on.
    /// Throws InputOutputError for another journal.
    void go_on(const Place& place);

    /// Reads the text of the journal, and then that of `input`, once it is in the journal. Throws
    /// InputOutputError.
    ByteReader::Result read(ByteReader& input, std::span<char> out, int wait_ms);
    /// Something has arrived, and there is no room for it.
    [[nodiscard]] bool is_full() const noexcept { return log_.is_full(); }
    /// The journal has what was not handed on.
    [[nodiscard]] bool has_unread() const noexcept { return position_ != log_.end().bytes; }
    /// Bytes that have arrived and are not in the journal.
    [[nodiscard]] std::size_t bytes_pending() const noexcept {
        return (is_full() ? pending_.size() : 0) + begun_.size();
    }
    /// Bytes that were handed on and are of the runs before.
    [[nodiscard]] std::uint64_t bytes_read_again() const noexcept { return read_again_; }

    /// The snapshot of this number has this place. Removes what no snapshot needs.
    void begin_snapshot(std::uint64_t number, std::uint64_t place, std::uint64_t head_bytes);
    /// The text so far, which will be read at each start, lasts from now on.
    void keep_head() { log_.synchronize_head(); }

    void commit() override {}
    /// The stream has ended: removes the files.
    void finish() override { log_.remove_all(); }
    void discard() noexcept override {}

  private:
    void begin_reading(std::uint64_t place);
    [[nodiscard]] std::size_t read_stored(std::span<char> out);
    [[nodiscard]] bool append(ByteReader& input, std::span<const char> text);
    ByteReader::Result read_lines(ByteReader& input, std::span<char> out, int wait_ms);
    void read_rest_of_message(ByteReader& input);
    void place_input(ByteReader& input);

    RunScope& run_;
    JournalLog log_;

    bool has_begun_ = false;
    std::uint64_t position_ = 0;   // of what is handed on next
    std::uint64_t skip_from_ = 0;  // behind the head, to skip_to_; 0: nothing
    std::uint64_t skip_to_ = 0;
    std::uint64_t read_again_ = 0;

    bool is_placed_ = false;      // the input, behind what the journal has of it
    std::uint64_t appended_ = 0;  // bytes of the input
    PlaceInFile text_file_;       // of a file that is followed: where the next text stands
    std::vector<char> pending_;   // that found no room; then of it what is left
    std::size_t pending_begin_ = 0;
    std::vector<char> begun_;        // of a line that is acknowledged when it is whole
    std::uint64_t connections_ = 0;  // whose lines these are
};

}  // namespace strid::detail
