// SPDX-License-Identifier: Apache-2.0
//
// Journals: what arrives by a pipe or a socket is written to a folder before it is handled, so that
// a run with snapshots goes on behind a kill. The member `journal` of the options of csv_file,
// json_lines and text_lines names the folder. Plain values.
//
//     strid::csv_file<Reading>("-", {.journal = {.folder = "journal"}})
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace strid {

/// When what a journal has is written to the disk. A kill of the process loses nothing of a journal
/// in any case: this is for a loss of power.
enum class JournalSync : std::uint8_t {
    each_chunk,  ///< before what arrived is handled: nothing of the journal is lost
    at_times,    ///< JournalOptions::sync_every: what arrived since is lost
    never        ///< when the system does: some seconds are lost
};

/// The action where the disk of a journal is full.
enum class OnJournalFull : std::uint8_t {
    wait,  ///< stop reading, with a warning, until there is room
    fail   ///< end the run with an InputOutputError
};

/// The journal of a source. The input is one pipe, socket, standard input or file that is followed,
/// and the run takes snapshots; anything else is a GraphError.
struct JournalOptions {
    /// The folder, of this source alone; empty: no journal. It is made for this user alone (mode
    /// 700) where there is none; its parent must be there.
    std::string folder{};
    JournalSync sync = JournalSync::each_chunk;  ///< When it is written to the disk.
    /// With `at_times`: from one write to the next, while something arrives or the source waits.
    std::chrono::nanoseconds sync_every = std::chrono::seconds{1};
    OnJournalFull on_full = OnJournalFull::wait;  ///< The action where the disk is full.
    /// An unfinished line at the end of the journal is cut off at a start: the producer sends it
    /// from its beginning. False: the input goes on in the middle of it, as a named pipe does that
    /// another process keeps open.
    bool whole_lines = true;
    /// The length from which on a new file is begun. Whole files behind the snapshots are removed.
    std::size_t file_bytes = std::size_t{8} << 20;

    /// Whether there is one.
    [[nodiscard]] bool on() const noexcept { return !folder.empty(); }
};

/// The text that a journal has accepted from its beginning on, with what was removed since. It
/// counts as it is after decompression and in UTF-8.
struct JournalFigures {
    std::uint64_t lines = 0;         ///< Whole lines.
    std::uint64_t line_bytes = 0;    ///< Bytes of these.
    std::uint64_t bytes = 0;         ///< With the unfinished line behind them.
    std::uint64_t stored_bytes = 0;  ///< Of its files.
    std::size_t files = 0;           ///< Of the folder.
};

/// Reads what a journal has, also beside the run that writes it. A producer sends what is behind.
/// Throws InputOutputError, also where there is no journal or it is damaged.
[[nodiscard]] JournalFigures read_journal(const std::string& folder);

}  // namespace strid
