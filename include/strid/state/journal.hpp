// SPDX-License-Identifier: Apache-2.0
//
// Journals: what arrives by a pipe, a socket or an inlet is written to a folder before it is
// handled, so that a run with snapshots goes on behind a kill. The member `journal` of the options
// of csv_file, json_lines and text_lines names the folder, and so does the first argument of
// Graph::journalled_inlet. Plain values.
//
//     strid::csv_file<Reading>("-", {.journal = {.folder = "journal"}})
//     graph.journalled_inlet<Order>({.folder = "orders"})
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

/// The journal of a source. The input is one pipe, socket, standard input, file that is followed or
/// inlet, and the run takes snapshots; anything else is a GraphError.
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
    /// Of text, as `acknowledges`: an inlet has records.
    bool whole_lines = true;
    /// A socket is sent a line for the producer, `accepted N`, with how many lines the journal has
    /// accepted: when it is connected, and whenever there are more. With `each_chunk` these lines
    /// are on the disk then. The input is the address of a socket; else a GraphError.
    bool acknowledges = false;
    /// The length from which on a new file is begun. Whole files behind the snapshots are removed.
    std::size_t file_bytes = std::size_t{8} << 20;

    /// Whether there is one.
    [[nodiscard]] bool on() const noexcept { return !folder.empty(); }
};

/// The text, or the records, that a journal has accepted from its beginning on, with what was
/// removed since. Text counts as it is after decompression and in UTF-8.
struct JournalFigures {
    bool are_records = false;        ///< Of an inlet, and not of a text.
    std::uint64_t lines = 0;         ///< Whole lines, or records.
    std::uint64_t line_bytes = 0;    ///< Bytes of these.
    std::uint64_t bytes = 0;         ///< With the unfinished line behind them.
    std::uint64_t stored_bytes = 0;  ///< Of its files.
    std::size_t files = 0;           ///< Of the folder.
};

/// Reads what a journal has, also beside the run that writes it. A producer sends what is behind.
/// Throws InputOutputError, also where there is no journal or it is damaged.
[[nodiscard]] JournalFigures read_journal(const std::string& folder);

}  // namespace strid
