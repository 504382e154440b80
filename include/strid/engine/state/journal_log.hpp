// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a journal, in the files of its folder: appended, read again by a run that goes on,
// and forgotten behind the snapshots. The connector room writes the text of an input by it, and the
// stream room the records of an inlet. journal_file.hpp describes a file.
//
// Threads: one at a time. Invariants: what was appended lies in the journal before end(). The files
// of a generation rise, each up to where the next begins; what a file has behind that counts for
// nothing. Of the text before the place of the oldest snapshot that is needed only the files with
// the head are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/place_in_file.hpp>
#include <strid/engine/state/journal_file.hpp>
#include <strid/engine/state/journal_folder.hpp>
#include <strid/state/journal.hpp>

namespace strid::detail {

/// Throws GraphError for impossible ones.
void check_journal_options(const JournalOptions& options);
/// Throws GraphError: the run takes no snapshots.
[[noreturn]] void refuse_journal_without_snapshots(const std::string& folder);

/// How far the blocks of a journal go.
struct JournalEnd {
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;       // or records
    std::uint64_t line_bytes = 0;  // behind the last of these

    void add(JournalKind kind, std::string_view block) noexcept;
};

class JournalLog {
  public:
    using Warn = std::function<void(const std::string&)>;

    /// Opens the folder, and finds the end of what a run before has left there, unless this run
    /// begins anew. Throws InputOutputError, also where another source has the folder.
    JournalLog(JournalOptions options, JournalKind kind, bool begins_anew, Warn warn);

    [[nodiscard]] const JournalOptions& options() const noexcept { return options_; }
    [[nodiscard]] const std::string& path() const noexcept { return folder_.path(); }
    /// The number of the journal; another one each time that one begins.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] const JournalEnd& end() const noexcept { return end_; }
    /// The place behind the last block in the file of its input.
    [[nodiscard]] PlaceInFile end_in_input() const;

    /// Before anything is read or appended: the journal of a snapshot, which had `place`. Text that
    /// the snapshot has and the journal has not is taken to lie before its end. `head_bytes` as in
    /// begin_snapshot(). Throws InputOutputError for another journal.
    void go_on(std::uint64_t journal, const JournalEnd& place,
               std::optional<std::uint64_t> head_bytes);
    /// Cuts off a line that was begun, unless it begins before `place`.
    void cut_unfinished_line(std::uint64_t place);

    /// The bytes at `place`, up to the end of a block, of a file, or `limit`. Throws
    /// InputOutputError where it has nothing, or is damaged. Valid until the next call.
    [[nodiscard]] std::string_view at(std::uint64_t place, std::uint64_t limit);
    /// Nothing is read again any more.
    void end_reading() noexcept { reader_.reset(); }

    /// Appends a block; `from`: where it stands in the file of the input, if that is followed.
    /// False: there is no room, and is_full() holds until it has been appended. Throws
    /// InputOutputError.
    [[nodiscard]] bool append(std::span<const char> block, const PlaceInFile& from = {});
    [[nodiscard]] bool is_full() const noexcept { return is_full_; }
    /// When append() may be tried again.
    [[nodiscard]] std::int64_t retry_at_ns() const noexcept;
    /// Writes to the disk what is due by the options.
    void synchronize_if_due();
    /// When that is; 0: nothing is to be written.
    [[nodiscard]] std::int64_t synchronize_at_ns() const noexcept;
    /// Writes all that was appended to the disk, whatever the options.
    void synchronize_head();

    /// The snapshot of this number has this place; `oldest` is the number of the oldest one that a
    /// run may go on from, or 0. Removes what no snapshot needs: the text from the head to the
    /// place of that one. No head: all is read at each start.
    void begin_snapshot(std::uint64_t number, std::uint64_t place,
                        std::optional<std::uint64_t> head_bytes, std::uint64_t oldest);
    /// The stream has ended: removes the files.
    void remove_all();

  private:
    void use(std::uint64_t generation, const std::vector<JournalFile>& all);
    void begin_generation(std::uint64_t id);
    [[nodiscard]] bool find_generation(std::uint64_t id);
    void find_block(std::uint64_t place, std::uint64_t limit);
    [[noreturn]] void fail_of_gap(std::uint64_t from, std::uint64_t to) const;
    [[nodiscard]] int begin_file(const PlaceInFile& from);
    void synchronize();
    /// The part of the journal that a snapshot needs.
    struct Needed {
        std::uint64_t number;
        std::uint64_t place;
        std::optional<std::uint64_t> head_bytes;
    };
    void remove_unneeded(const Needed& needed);

    JournalOptions options_;
    JournalKind kind_;
    Warn warn_;
    JournalFolder folder_;
    std::uint64_t generation_ = 0;
    std::uint64_t id_ = 0;
    std::vector<JournalFile> files_;  // of the generation
    JournalEnd end_;

    std::optional<JournalFileReader> reader_;  // at the block that was read last
    std::uint64_t reader_first_ = 0;           // of its file

    JournalFileWriter writer_;
    PlaceInFile end_file_;                      // of a file that is followed: where it goes on
    std::int64_t unsynchronized_since_ns_ = 0;  // 0: all is on the disk, or need not be
    bool is_full_ = false;
    std::int64_t tried_ns_ = 0;  // to find room

    // By snapshots, rising; 0 is that which the run goes on from, and some may not be stored.
    std::deque<Needed> needed_;
};

}  // namespace strid::detail
