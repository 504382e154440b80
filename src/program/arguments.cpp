// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/base/log.hpp>
#include <strid/program/arguments.hpp>

namespace strid {

namespace {

std::size_t read_replicas(std::string_view text, std::string_view whole) {
    std::size_t replicas = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, replicas);
    const bool too_large = result.ec == std::errc::result_out_of_range;
    if (!too_large && (result.ec != std::errc{} || result.ptr != end)) {
        throw GraphError(fmt::format(
            "parallelism '{}': expected auto, a number, or operator=number,...", whole));
    }
    if (too_large || replicas > parallelism_max) {
        throw GraphError(
            fmt::format("parallelism {} is above the limit of {}", text, parallelism_max));
    }
    if (replicas == 0) throw GraphError("parallelism must be at least 1");
    return replicas;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// The text behind "strid: error:" for an option with an empty value. Empty: there is none.
std::string empty_value(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const auto& values = option->results();
        if (std::find(values.begin(), values.end(), "") == values.end()) continue;
        return fmt::format("{}: the value is empty; leave the option out or name one",
                           option->get_name());
    }
    return {};
}

const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.front());
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    const auto extras = app.remaining(true);
    if (extras.empty()) {
        return fmt::format("{} (--help lists the options)", error.what());
    }
    const std::string word = extras.front().substr(0, extras.front().find('='));
    if (word.starts_with('-')) {
        return fmt::format("unknown option {}{}", word, suggestion(word, option_names(command)));
    }
    std::vector<std::string> commands;
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
        commands.push_back(sub->get_name());
    }
    return fmt::format("unexpected argument '{}'{}", word, suggestion(word, commands));
}

}  // namespace

void add_text_option(CLI::App& app, const std::string& name, const std::string& type,
                     std::function<void(const std::string&)> read, const std::string& help) {
    const auto checked = [name, read = std::move(read)](const std::string& text) {
        try {
            read(text);
        } catch (const GraphError& error) {
            throw CLI::ValidationError(name, error.what());
        }
    };
    app.add_option_function<std::string>(name, checked, help)->type_name(type);
}

void add_choice(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                std::function<void(std::size_t)> choose, const std::string& help) {
    const auto type = fmt::format("{}", fmt::join(words, "|"));
    const auto read = [words, type, choose = std::move(choose)](const std::string& text) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) {
            throw GraphError(fmt::format("'{}' is none of {}", text, fmt::join(words, ", ")));
        }
        choose(static_cast<std::size_t>(found - words.begin()));
    };
    add_text_option(app, name, type, read, help);
}

void add_number_option(CLI::App& app, const std::string& name, std::uint64_t least,
                       std::uint64_t most, std::function<void(std::uint64_t)> take,
                       const std::string& help) {
    const auto read = [least, most, take = std::move(take)](const std::string& text) {
        std::uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, number);
        const bool is_one = result.ec == std::errc{} && result.ptr == end;
        if (!is_one || number < least || number > most) {
            throw GraphError(
                fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
        }
        take(number);
    };
    add_text_option(app, name, "N", read, help);
}

void add_decimal_option(CLI::App& app, const std::string& name, double& value,
                        const std::string& help) {
    const auto read = [&value](const std::string& text) {
        double number = 0;
        const char* const end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, number);
        if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(number)) {
            throw GraphError(fmt::format("'{}' is not a number like 0.25", text));
        }
        value = number;
    };
    add_text_option(app, name, "NUMBER", read, fmt::format("{} (default: {})", help, value));
}

namespace {

void add_log_option(CLI::App& app) {
    add_choice(
        app, "--log", {"text", "json"},
        [](std::size_t chosen) { set_log(chosen == 1 ? json_log() : nullptr); },
        "Messages on standard error: sentences for the user, or each a line of JSON, with the "
        "start, the snapshots and the end of the run");
}

}  // namespace

void add_run_arguments(CLI::App& app, RunArguments& arguments) {
    using Mode = RunOptions::Mode;
    using Waiting = RunOptions::Waiting;
    RunOptions& run = arguments.run;
    add_text_option(
        app, "--parallelism", "auto|N|OP=N,...",
        [&run](const std::string& text) { read_parallelism(text, run); },
        "Replicas of the operators: auto, a number for all, or by name");
    add_choice<Mode>(app, "--mode", run.mode,
                     {{"cooperative", Mode::cooperative},
                      {"dedicated", Mode::dedicated},
                      {"simulation", Mode::simulation}},
                     "Workers that share the tasks; a thread per task; or one thread in a seeded "
                     "hostile order");
    add_number_option(app, "--workers", run.workers, 0, parallelism_max,
                      "Threads of the cooperative mode; 0: one per core");
    app.add_flag("--pin", run.pin, "Keep every thread on a core of its own");
    add_text_option(
        app, "--affinity", "P,P,...",
        [&run](const std::string& text) { run.affinity = read_affinity(text); },
        "The processor of each task, in the order that `explain` lists them in");
    add_choice<Waiting>(app, "--waiting", run.waiting,
                        {{"park", Waiting::park}, {"spin", Waiting::spin}},
                        "What threads without work do");
    add_choice<Composition>(app, "--composition", run.composition,
                            {{"combined", Composition::combined},
                             {"dedicated", Composition::dedicated},
                             {"centralised", Composition::centralised}},
                            "Who distributes records to replicas (paper 2, figure 17)");
    app.add_flag_callback(
        "--no-fuse", [&run] { run.fuse = false; }, "Make every operator a task of its own");
    add_number_option(app, "--seed", run.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                      "Order of the simulation");
    add_text_option(
        app, "--watchdog", "TIME",
        [&run](const std::string& text) {
            run.watchdog = std::chrono::ceil<std::chrono::milliseconds>(read_duration(text));
        },
        "Name the tasks that made no progress for so long");
    app.add_option("--snapshots", run.snapshots.folder,
                   "Store the state of the run in this folder now and then, and go on from what it "
                   "has")
        ->type_name("FOLDER");
    add_text_option(
        app, "--snapshot-every", "TIME",
        [&run](const std::string& text) { run.snapshots.every = read_duration(text); },
        "From one snapshot to the next; 10s unless given");
    app.add_flag("--restart", run.snapshots.restart,
                 "Begin anew, whatever the folder of snapshots has");
    app.add_flag("--allow-lost", run.snapshots.allow_lost,
                 "Go on without the states of operators that the program has no more");
    app.add_flag("--drain", run.snapshots.drain,
                 "A signal ends the stream for good: windows fire, and no last snapshot is taken");
    app.add_option("--metrics", arguments.session.metrics_path,
                   "Write what was measured as JSON, at the end; replaces the file; -: to standard "
                   "output, behind the results")
        ->type_name("FILE");
    add_text_option(
        app, "--metrics-every", "TIME",
        [&arguments](const std::string& text) {
            arguments.session.metrics_every = read_duration(text);
        },
        "Write a line of JSON there so often while the run goes on, and a last one at the end; "
        "replaces the file when the run begins");
    app.add_flag("--zero-on-sigterm", arguments.session.zero_on_sigterm,
                 "Exit with 0 where SIGTERM drained the run, as service managers stop it");
    app.add_flag("--quiet", arguments.session.quiet, "No progress line and no summary");
    add_log_option(app);
}

std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
        const std::string error = empty_value(innermost(app));
        if (error.empty()) return std::nullopt;
        write_to_stderr(fmt::format("strid: error: {}\n", error));
        return ExitCode::usage;
    } catch (const CLI::CallForVersion& asked) {
        write_to_stdout(fmt::format("{}\n", asked.what()));
        return ExitCode::done;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) {
            write_to_stderr(fmt::format("strid: error: {}\n", usage_message(app, error)));
            return ExitCode::usage;
        }
        write_to_stdout(app.help());
        return ExitCode::done;
    }
}

void read_parallelism(std::string_view text, RunOptions& options) {
    const std::string_view whole = text;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        more = comma != std::string_view::npos;
        if (more) text.remove_prefix(comma + 1);
        if (item == "auto") {
            options.parallelism = 0;
            continue;
        }
        const std::size_t equals = item.rfind('=');
        const std::size_t number = equals == std::string_view::npos ? 0 : equals + 1;
        const std::size_t replicas = read_replicas(item.substr(number), whole);
        if (number == 0) {
            options.parallelism = replicas;
        } else {
            options.operator_parallelism[std::string(item.substr(0, equals))] = replicas;
        }
    }
}

std::vector<int> read_affinity(std::string_view text) {
    std::vector<int> processors;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        int processor = 0;
        const auto [stop, error] = std::from_chars(at, end, processor);
        if (error != std::errc{} || processor < 0 || (stop != end && *stop != ',')) {
            throw GraphError(
                fmt::format("'{}': expected numbers of processors with commas between them", text));
        }
        processors.push_back(processor);
        if (stop == end) return processors;
        at = stop + 1;
    }
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string* nearest = nullptr;
    std::size_t distance_min = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= distance_min) continue;
        distance_min = distance;
        nearest = &candidate;
    }
    return nearest == nullptr ? "" : fmt::format(" (did you mean {}?)", *nearest);
}

}  // namespace strid
