// SPDX-License-Identifier: Apache-2.0
//
// The journal of one source: the text of its input passes through it, and is in a file before it is
// handed on. A run that goes on behind a snapshot reads from there what the run before it has
// accepted, then what arrives. Private to the connector room; journal_file.hpp describes a file.
//
// Owned by a FileSource and by the scope of its run, whose end removes the files. Threads: that of
// the source; commit() by the last of the run.
//
// Invariants: what was handed on lies in the journal before end_. The files of a generation
// rise, each up to where the next begins; what a file has behind that counts for nothing. Of the
// text before the place of the older of two stored snapshots only the files with the head are
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <strid/connector/byte_reader.hpp>
#include <strid/connector/journal.hpp>
#include <strid/operator/run_scope.hpp>

#include "journal_folder.hpp"

namespace strid::detail {

/// Throws GraphError for impossible ones.
void check_journal_options(const JournalOptions& options);

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
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Before the first read(): the text up to the head is read, then that from the place on.
    /// Throws InputOutputError for another journal.
    void go_on(const Place& place);

    /// Reads the text of the journal, and then that of `input`, once it is in the journal. Throws
    /// InputOutputError.
    ByteReader::Result read(ByteReader& input, std::span<char> out, int wait_ms);
    /// Something has arrived, and there is no room for it.
    [[nodiscard]] bool is_full() const noexcept { return is_full_; }
    /// The journal has what was not handed on.
    [[nodiscard]] bool has_unread() const noexcept { return position_ != end_; }
    /// Bytes that have arrived and are not in the journal.
    [[nodiscard]] std::size_t bytes_pending() const noexcept {
        return is_full_ ? pending_.size() : 0;
    }
    /// Bytes that were handed on and are of the runs before.
    [[nodiscard]] std::uint64_t bytes_read_again() const noexcept { return read_again_; }

    /// The snapshot of this number has this place. Removes what no snapshot needs.
    void begin_snapshot(std::uint64_t number, std::uint64_t place, std::uint64_t head_bytes);
    /// The text so far, which will be read at each start, lasts from now on.
    void keep_head();

    /// The stream has ended: removes the files.
    void commit() override;
    void discard() noexcept override {}

  private:
    void use(std::uint64_t generation, const std::vector<JournalFile>& all);
    void begin_generation(std::uint64_t id);
    [[nodiscard]] bool find_generation(std::uint64_t id);
    void begin_reading();
    void cut_unfinished_line(std::uint64_t place);
    [[nodiscard]] std::size_t read_stored(std::span<char> out);
    void find_block(std::uint64_t limit);
    [[noreturn]] void fail_of_gap(std::uint64_t to) const;
    [[nodiscard]] bool append(std::span<const char> text);
    [[nodiscard]] int begin_file();
    void place_input(ByteReader& input);
    void synchronize();
    void synchronize_if_due();
    /// The part of the journal that a snapshot needs.
    struct Needed {
        std::uint64_t number;
        std::uint64_t place;
        std::uint64_t head_bytes;  // 0: all
    };
    void remove_unneeded(const Needed& needed);

    JournalOptions options_;
    RunScope& run_;
    JournalFolder folder_;
    std::uint64_t generation_ = 0;
    std::uint64_t id_ = 0;
    std::vector<JournalFile> files_;  // of the generation
    std::uint64_t end_ = 0;
    std::uint64_t lines_ = 0;     // before end_
    std::uint64_t line_end_ = 0;  // behind the last of them

    bool has_begun_ = false;
    std::uint64_t position_ = 0;   // of what is handed on next
    std::uint64_t skip_from_ = 0;  // behind the head, to skip_to_; 0: nothing
    std::uint64_t skip_to_ = 0;
    std::uint64_t read_again_ = 0;
    std::optional<JournalFileReader> reader_;  // at the block of position_
    std::uint64_t reader_first_ = 0;           // of its file

    JournalFileWriter writer_;
    bool is_placed_ = false;           // the input, behind what the journal has of it
    ByteReader::FilePlace text_file_;  // of a file that is followed: where the next text stands
    ByteReader::FilePlace end_file_;   // and where the file goes on
    std::int64_t unsynchronized_since_ns_ = 0;  // 0: all is on the disk, or need not be
    std::vector<char> pending_;                 // that found no room; then of it what is left
    std::size_t pending_begin_ = 0;
    bool is_full_ = false;
    std::int64_t tried_ns_ = 0;  // to find room for it

    std::optional<Needed> asked_;   // by the last snapshot, which may not be stored
    std::optional<Needed> stored_;  // by the last that is
};

}  // namespace strid::detail
