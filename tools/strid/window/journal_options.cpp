// SPDX-License-Identifier: Apache-2.0
#include "journal_options.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/state/journal.hpp>

#include "window_arguments.hpp"

namespace strid::tool {

namespace {

void read_journal_sync(const std::string& text, JournalOptions& journal) {
    if (text == "chunk") {
        journal.sync = JournalSync::each_chunk;
    } else if (text == "never") {
        journal.sync = JournalSync::never;
    } else {
        journal.sync = JournalSync::at_times;
        journal.sync_every = read_duration(text);
    }
}

}  // namespace

void add_journal_options(CLI::App& command, WindowCommand& options) {
    JournalOptions& journal = options.job.csv.journal;
    command
        .add_option("--journal", journal.folder,
                    "With --snapshots, of a pipe or a socket: write what arrives to this folder "
                    "before it is handled, and go on from there")
        ->type_name("FOLDER");
    add_text_option(
        command, "--journal-sync", "WHEN",
        [&options, &journal](const std::string& text) {
            read_journal_sync(text, journal);
            options.is_journal_described = true;
        },
        "When the journal is written to the disk, for a loss of power: chunk (default: before it "
        "is handled), a time such as 1s (so often), or never (when the system does)");
    add_choice<OnJournalFull>(
        command, "--journal-full", journal.on_full,
        {{"wait", OnJournalFull::wait}, {"fail", OnJournalFull::fail}},
        "Where the disk of the journal is full: wait (default) for room, or fail");
    command.add_flag("--journal-join", options.joins_lines,
                     "The input goes on in the middle of the line that the journal ends with, as a "
                     "named pipe does that stays open; otherwise such a line is cut off");
    command.add_flag("--journal-acknowledge", journal.acknowledges,
                     "Of a socket: send it lines `accepted N` with the number of lines that the "
                     "journal has; one that listens takes the next client where one has ended");
}

void check_journal_options(const WindowCommand& command) {
    const JournalOptions& journal = command.job.csv.journal;
    if (!journal.on()) {
        if (command.is_journal_described || command.joins_lines || journal.acknowledges ||
            journal.on_full != OnJournalFull::wait) {
            throw GraphError(
                "--journal-sync, --journal-full, --journal-join and --journal-acknowledge are for "
                "--journal");
        }
        return;
    }
    if (!command.arguments.run.snapshots.on()) throw GraphError("--journal needs --snapshots");
    if (command.job.inputs.size() != 1) {
        throw GraphError("--journal is of one input: strid window reads several here");
    }
}

}  // namespace strid::tool
