// SPDX-License-Identifier: Apache-2.0
//
// `strid state`: looks into folders of snapshots without their lock, and deletes what is in them
// with it.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/journal.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "commands.hpp"
#include "state/checkpoint_files.hpp"
#include "state/result_file.hpp"
#include "state/state_text.hpp"

namespace strid::tool {

namespace {

constexpr const char* state_footer =
    "A run with --snapshots FOLDER stores its state there now and then. The last snapshot and one\n"
    "before it are kept, with those that they build on: a snapshot of a large state may have what\n"
    "has changed since another one. `list`, `show` and `check` read a folder while a run uses it,\n"
    "and change nothing.\n"
    "Exit codes: 0 done, 1 failed or a snapshot is damaged, 2 the command line makes no sense.";

constexpr const char* save_footer =
    "Waits until the snapshot is stored. Where no run uses the folder, the last snapshot is "
    "copied.\n"
    "The copy is one whole snapshot, whatever it was made of.\n"
    "A run with --snapshots TO goes on from the copy, and cuts the unfinished result files where\n"
    "they ended then: those are not copied. Nor is a journal: it keeps what the "
    "snapshots\n"
    "that the run keeps need. A snapshot that names checkpoints of a store (keep_in_memory) is not "
    "copied.";

constexpr const char* delete_footer =
    "First prints what goes. A run that has not ended leaves its results in unfinished files,\n"
    "OUTPUT.XXXXXXXXXX.strid-unfinished beside each OUTPUT. They stay unless --results is given.\n"
    "The checkpoints of stores go with the snapshots, but only from folders of states that are "
    "this\n"
    "user's alone and that no run uses. Where the run was given relative names, start `strid "
    "state`\n"
    "in the folder of the run.";

struct StateCommand {
    std::string folder = {};
    std::string copy = {};                     // TO
    std::optional<std::uint64_t> number = {};  // --number
    bool yes = false;
    bool results = false;
};

std::string file_of(const SnapshotFiles& files, std::uint64_t number) {
    return files.path() + '/' + SnapshotFiles::name_of(number);
}

void check_used(const SnapshotFiles& files) {
    if (files.was_used()) return;
    throw InputOutputError(files.path() + ": no run has taken snapshots in this folder");
}

bool is_there(const SnapshotFiles& files, std::uint64_t number) {
    const auto now = files.numbers();
    return std::find(now.begin(), now.end(), number) != now.end();
}

/// Calls `read`, unless a run has removed the snapshot since its number was found.
template <class Read>
void unless_gone(const SnapshotFiles& files, std::uint64_t number, const Read& read) {
    try {
        read();
    } catch (const InputOutputError&) {
        if (is_there(files, number)) throw;
    } catch (const StateError&) {  // one that it builds on is gone, too
        if (is_there(files, number)) throw;
    }
}

int list(const StateCommand& command) {
    const SnapshotFiles files(command.folder);
    check_used(files);
    int code = 0;
    std::string text = list_header();
    for (const std::uint64_t number : files.numbers()) {
        unless_gone(files, number, [&] {
            try {
                text += list_line(files.describe(number), files.file_bytes(number));
            } catch (const StateError& error) {
                text += list_line(number, error.what());
                code = 1;
            }
        });
    }
    write_to_stdout(text);
    return code;
}

int show(const StateCommand& command) {
    const SnapshotFiles files(command.folder);
    check_used(files);
    const auto numbers = files.numbers();
    if (numbers.empty()) throw InputOutputError(files.path() + ": there is no snapshot yet");
    const std::uint64_t number = command.number.value_or(numbers.back());
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) {
        throw InputOutputError(fmt::format("{}: there is no snapshot {}; there are: {}",
                                           files.path(), number, fmt::join(numbers, ", ")));
    }
    const std::string file = file_of(files, number);
    try {
        write_to_stdout(description_text(files.describe(number), file, files.file_bytes(number)));
    } catch (const StateError& error) {
        throw StateError(file + ": " + error.what());
    }
    return 0;
}

/// The faults of a snapshot and of its checkpoints.
std::vector<std::string> faults_of(const SnapshotFiles& files, std::uint64_t number) {
    std::vector<std::string> faults;
    try {
        const Snapshot snapshot = files.read(number);
        for (const SnapshotCheckpoint& one : snapshot.description.checkpoints) {
            const std::string fault = fault_of(one);
            if (fault.empty()) continue;
            faults.push_back(fmt::format("operator '{}', replica {}: the checkpoint is damaged: {}",
                                         one.operator_name, one.replica + 1, fault));
        }
    } catch (const StateError& error) {
        faults.emplace_back(error.what());
    }
    return faults;
}

int check(const StateCommand& command) {
    const SnapshotFiles files(command.folder);
    check_used(files);
    int code = 0;
    for (const std::uint64_t number : files.numbers()) {
        const std::string file = file_of(files, number);
        unless_gone(files, number, [&] {
            const auto faults = faults_of(files, number);
            if (faults.empty()) return write_to_stdout(file + ": whole\n");
            // A run removes the checkpoints of a snapshot behind the snapshot.
            if (!is_there(files, number)) return;
            for (const std::string& fault : faults) write_to_stdout(file + ": " + fault + '\n');
            code = 1;
        });
    }
    return code;
}

/// Of a folder that a run writes to: the newest snapshot may be gone when it is read.
Snapshot newest_of(const SnapshotFiles& files) {
    for (;;) {
        const auto numbers = files.numbers();
        if (numbers.empty()) throw InputOutputError(files.path() + ": there is no snapshot yet");
        std::optional<Snapshot> found;
        unless_gone(files, numbers.back(), [&] {
            try {
                found = files.read(numbers.back());
            } catch (const StateError& error) {
                throw StateError(file_of(files, numbers.back()) + ": " + error.what());
            }
        });
        if (found) return std::move(*found);
    }
}

/// A copy would name the checkpoints of the run, which removes them behind its next snapshots.
void refuse_checkpoints(const SnapshotDescription& description, const std::string& file) {
    if (description.checkpoints.empty()) return;
    const SnapshotCheckpoint& one = description.checkpoints.front();
    throw InputOutputError(fmt::format(
        "{}: is not copied: states of operator '{}' are in a checkpoint of its store{}{}, which is "
        "no part of the file; stop the run, and copy the folder of snapshots with that of the "
        "store",
        file, one.operator_name, one.where.folder.empty() ? "" : ", ", one.where.folder));
}

int save(const StateCommand& command) {
    const SnapshotFiles files(command.folder);
    check_used(files);
    const auto answer = files.request();
    if (answer && !answer->empty()) {
        throw InputOutputError(
            fmt::format("{}: no snapshot was stored: {}", files.path(), *answer));
    }
    if (command.copy.empty()) {
        if (!answer) throw InputOutputError(files.path() + ": no run takes its snapshots here now");
        write_to_stdout(fmt::format("stored {}\n", file_of(files, files.numbers().back())));
        return 0;
    }
    const Snapshot snapshot = newest_of(files);
    refuse_checkpoints(snapshot.description, file_of(files, snapshot.description.number));
    SnapshotFolder copy(command.copy);
    if (!copy.numbers().empty()) {
        throw InputOutputError(copy.path() + ": there are snapshots in this folder already");
    }
    copy.store(snapshot);
    write_to_stdout(
        fmt::format("copied {} to {}{}\n", file_of(files, snapshot.description.number),
                    file_of(copy, snapshot.description.number),
                    answer ? "" : " (no run takes its snapshots there now: it is the last one)"));
    return 0;
}

/// The snapshots of a folder, and all that they name.
struct Doomed {
    std::vector<std::uint64_t> numbers = {};
    std::map<std::string, ResultFile> results = {};  // by the file
    CheckpointFolders checkpoints = {};
    std::string text = {};
};

Doomed doomed(const SnapshotFiles& files, bool with_results) {
    Doomed found{.numbers = files.numbers()};
    std::set<std::string> missing;
    for (const std::uint64_t number : found.numbers) {
        found.text += file_of(files, number);
        try {
            const auto description = files.describe(number);
            // The results of a run that has ended have their names.
            if (description.is_finished) missing.clear();
            for (ResultFile& result : result_files(description)) {
                if (result.found_bytes) {
                    found.results[result.beside] = std::move(result);
                } else if (!result.fault.empty()) {
                    missing.insert(result_text(result) + '\n');
                }
            }
            for (const auto& one : description.checkpoints) found.checkpoints.add(one);
        } catch (const StateError& error) {
            found.text +=
                fmt::format(" ({}; its results and checkpoints are not known)", error.what());
        }
        found.text += '\n';
    }
    found.text += found.checkpoints.text();
    for (const auto& [file, result] : found.results) {
        found.text += file + (with_results ? "\n" : " (stays without --results)\n");
    }
    for (const std::string& line : missing) found.text += "not found: " + line;
    return found;
}

void remove_all(const std::map<std::string, ResultFile>& results) {
    std::exception_ptr failure;
    for (const auto& [file, result] : results) {
        try {
            remove_unfinished(result);
        } catch (const InputOutputError&) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// Checkpoints and results go last: a snapshot that names one which is gone is worth nothing.
int remove(const StateCommand& command) {
    check_used(SnapshotFiles(command.folder));
    SnapshotFolder folder(command.folder);
    const Doomed found = doomed(folder, command.results);
    write_to_stdout(found.text);
    if (found.numbers.empty()) return 0;
    if (!command.yes) throw GraphError("nothing was removed; --yes removes the files above");
    // None is there without those that it builds on.
    std::for_each(found.numbers.rbegin(), found.numbers.rend(),
                  [&folder](std::uint64_t number) { folder.remove(number); });
    write_to_stdout(found.checkpoints.remove());
    if (command.results) remove_all(found.results);
    return 0;
}

int show_journal(const StateCommand& command) {
    const JournalFigures found = read_journal(command.folder);
    std::string text = fmt::format("accepted  {} {}, {} bytes\n", found.lines,
                                   found.are_records ? "records" : "lines", found.line_bytes);
    if (found.bytes != found.line_bytes) {
        text += fmt::format("begun     {} bytes of a line behind them\n",
                            found.bytes - found.line_bytes);
    }
    text += fmt::format("stored    {} bytes in {} file{}\n", found.stored_bytes, found.files,
                        found.files == 1 ? "" : "s");
    write_to_stdout(text);
    return 0;
}

using Work = int (*)(const StateCommand&);

CLI::App* add(CLI::App& state, Action& action, const std::shared_ptr<StateCommand>& options,
              const char* name, const char* help, Work work) {
    CLI::App* const command = state.add_subcommand(name, help);
    command
        ->add_option("FOLDER", options->folder,
                     "The folder that --snapshots names; of `journal` that of --journal")
        ->required();
    command->callback(
        [&action, options, work] { action = [options, work] { return work(*options); }; });
    return command;
}

}  // namespace

void add_state_command(CLI::App& app, Action& action) {
    CLI::App* const state =
        app.add_subcommand("state", "List, show, save, check and delete the snapshots of runs");
    state->require_subcommand(1);
    state->footer(state_footer);
    const auto options = std::make_shared<StateCommand>();
    add(*state, action, options, "list", "A line for each snapshot: when, nodes, bytes", list);
    CLI::App* const shown = add(*state, action, options, "show",
                                "The nodes of a snapshot with their states, and its results", show);
    add_number_option(
        *shown, "--number", 0, std::numeric_limits<std::uint64_t>::max(),
        [options](std::uint64_t number) { options->number = number; },
        "Of this snapshot; of the newest unless given");
    CLI::App* const saved =
        add(*state, action, options, "save",
            "Ask the run of a folder for a snapshot now, and copy it to another folder", save);
    saved->add_option("TO", options->copy,
                      "A new folder for the copy, from which a run can go on; without it there is "
                      "no copy");
    saved->footer(save_footer);
    add(*state, action, options, "check",
        "Read every snapshot wholly, with those that it builds on, and look for the files of its "
        "checkpoints; a line for each, status 1 if one is damaged",
        check);
    add(*state, action, options, "journal",
        "Of the folder of a journal: the lines and bytes that were accepted, behind which a "
        "producer goes on",
        show_journal);
    CLI::App* const removed = add(*state, action, options, "delete",
                                  "Remove the snapshots of a folder that no run uses", remove);
    removed->add_flag("--yes", options->yes, "Remove them, and do not only print what would go");
    removed->add_flag("--results", options->results,
                      "Also the unfinished result files that belong to them");
    removed->footer(delete_footer);
}

}  // namespace strid::tool
