// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "commands.hpp"
#include "tools/common/http_options.hpp"
#include "tools/common/output_options.hpp"
#include "window/dialect_options.hpp"
#include "window/journal_options.hpp"
#include "window/live_options.hpp"
#include "window/parquet_options.hpp"
#include "window/time_options.hpp"
#include "window/window_arguments.hpp"
#include "window/window_help.hpp"
#include "window/window_spec.hpp"

namespace strid::tool {

namespace {

CsvColumn column(const std::string& name, bool no_header) {
    if (!no_header) return name;
    int number = 0;
    if (detail::read_integer(name, number) != nullptr || number < 1) {
        throw GraphError(fmt::format(
            "'{}' is not the number of a column, and --no-header says there are no names", name));
    }
    return number;
}

void complete(WindowCommand& command) {
    WindowJob& job = command.job;
    TablePlan& plan = *command.plan;
    plan.keys = read_columns(command.keys);
    if (plan.keys.size() > TablePlan::keys_max) {
        throw GraphError(fmt::format("--key: more than {} columns", TablePlan::keys_max));
    }
    plan.read_aggregates(command.aggregates);
    for (const std::string& key : plan.keys) {
        job.csv.columns.push_back(column(key, command.no_header));
    }
    for (const std::string& time : plan.times) {
        job.csv.columns.push_back(column(time, command.no_header));
    }
    for (const ValueColumn& value : plan.values) {
        job.csv.columns.push_back(column(value.name, command.no_header));
    }
    if (job.csv.columns.empty()) job.csv.columns.push_back(1);  // rows are only counted
    job.csv.header = command.no_header ? CsvHeader::none : CsvHeader::skip;
    if (command.skip_malformed) job.csv.on_malformed = OnMalformed::skip;
    if (!command.dead_letter.empty()) {
        job.csv.on_malformed = OnMalformed::dead_letter;
        job.csv.dead_letter_path = command.dead_letter;
        job.csv.dead_letters = job.writing;
    }
    if (!command.late.empty()) job.late = std::make_shared<LateFile>(command.late);
    if (command.drop_open) job.window.at_end = OpenWindows::drop;
    job.window.name = "window";
}

/// A member that no row of JSON has is a name misspelt, or nothing to compute. Empty: there is
/// none.
std::string values_in_no_row(const TablePlan& plan) {
    if (!plan.has_json_rows.load(std::memory_order_relaxed)) return "";
    const std::uint32_t seen = plan.json_values_seen.load(std::memory_order_relaxed);
    std::string text;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        if ((seen >> i & 1) != 0) continue;
        text += fmt::format("strid: no row has a value in '{}'\n", plan.values[i].name);
    }
    return text;
}

/// All inputs that are merged are open at once: raises the soft limit of open files for them.
/// Throws GraphError where the hard one is lower.
void allow_open_files(std::size_t inputs) {
    constexpr ::rlim_t others = 64;  // results, late rows, standard streams, libraries
    const ::rlim_t needed = inputs + others;
    ::rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    if (limit.rlim_max < needed) {
        throw GraphError(
            fmt::format("--merge-inputs opens {} inputs at once, and a process may have {} open "
                        "files here (ulimit -Hn): merge some of them first, by time",
                        inputs, limit.rlim_max));
    }
    limit.rlim_cur = needed;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The options that decide what is computed: a snapshot is of these (job_in_snapshot.hpp).
std::string computation_of(const WindowCommand& command) {
    const WindowJob& job = command.job;
    std::string text =
        fmt::format("--key '{}' --time '{}' --window '{}' --aggregate '{}'", command.keys,
                    fmt::join(command.plan->times, ","), command.windows, command.aggregates);
    const auto add = [&text](std::string_view option, Duration value) {
        if (value != Duration::zero()) text += fmt::format(" {} {}ns", option, value.count());
    };
    add("--offset", command.offset);
    add("--disorder", job.progress.disorder);
    add("--idle", job.progress.idle);
    add("--future", job.progress.future);
    add("--lateness", job.window.lateness);
    add("--every", job.rows.every);
    if (job.progress.waits_for_end) text += " --disorder end";
    if (job.rows.corrections) text += " --corrections";
    if (job.rows.fills) text += " --fill";
    if (command.drop_open) text += " --drop-open";
    return text;
}

int run_windows(WindowCommand& command) {
    const Windows windows =
        read_windows(command.windows, command.plan->format.zone, command.offset);
    const bool counts = std::holds_alternative<window::CountWindows>(windows);
    WindowJob& job = command.job;
    if (counts) {
        if (!command.late.empty() || job.window.lateness != Duration::zero() ||
            job.progress.disorder != Duration::zero()) {
            throw GraphError(
                "windows of a number of records take them as they come: --disorder, --lateness and "
                "--late are for windows of time");
        }
        command.plan->times.clear();
    } else if (command.plan->times.empty()) {
        throw GraphError("windows of time need --time COL");
    }
    check_live_options(job, windows);
    TimeFormat& format = command.plan->format;
    format.disorder = job.progress.waits_for_end ? Duration::zero() : job.progress.disorder;
    if (format.year != 0 && (!format.pattern || format.pattern->has_year())) {
        throw GraphError("--year is for a --time-format without a year");
    }
    format.misfit = misfit(command.windows, format, command.offset, windows);
    if (!format.misfit.empty() && format.pattern_of_bounds() != nullptr) {
        throw GraphError(format.misfit);
    }
    settle_inputs(command);
    check_journal_options(command);
    job.csv.journal.whole_lines = !command.joins_lines;
    settle_dialect(command);
    complete(command);
    settle_parquet(command);
    command.plan->computation = computation_of(command);
    if (job.merge_inputs) allow_open_files(job.inputs.size());
    job.plan = command.plan;
    const bool reads_stdin = std::count(job.inputs.begin(), job.inputs.end(), "-") != 0;
    if (reads_stdin && ::isatty(STDIN_FILENO) == 1 && !command.arguments.session.quiet) {
        write_to_stderr("strid: reading from the terminal; --input FILE names a file\n");
    }
    for (const std::string& input : job.inputs) {
        if (!file_may_block(input, StandardStream::input)) continue;
        report_where_rows_are(input, job.output, job.writing, command.arguments.session.quiet);
        break;
    }
    Graph graph{"window"};
    std::visit([&](const auto& spec) { build_windows(graph, job, spec); }, windows);
    const int status = run_session(graph, command.arguments.run, command.arguments.session);
    if (!command.arguments.session.quiet) {
        write_to_stderr(values_in_no_row(*job.plan) + live_notes(job));
        if (!counts) write_to_stderr(hint_about_times(job.plan->format));
    }
    return status;
}

}  // namespace

void add_window_command(CLI::App& app, Action& action,
                        const std::shared_ptr<Companion>& companion) {
    auto options = std::make_shared<WindowCommand>();
    if (companion) options->arguments.session.companions.push_back(companion);
    CLI::App* const command = app.add_subcommand("window", window_description());
    command->footer(window_footer());
    add_input_options(*command, *options);
    add_choice<TableFormat>(*command, "--format", options->job.format,
                            {{"csv", TableFormat::csv}, {"json", TableFormat::json}},
                            "Default: by the file's name (.csv, .json, .jsonl, .ndjson); else JSON "
                            "where the first line begins with {, and CSV otherwise");
    command->add_option("--key", options->keys, "Windows by the values of these; none: of all rows")
        ->type_name("COL[,COL]");
    command->add_option("--window", options->windows, "Which windows")
        ->type_name("WINDOWS")
        ->required();
    command->add_option("--aggregate", options->aggregates, "What to compute of each")
        ->type_name("LIST")
        ->required();
    add_time_options(*command, *options);
    add_live_options(*command, *options);
    add_journal_options(*command, *options);
    command
        ->add_option("--output", options->job.output,
                     "A file; kafka://HOST:PORT/TOPIC, https://HOST/PATH, "
                     "postgres://HOST/DB?table=NAME&keys=COL,COL, "
                     "sqlite:PATH?table=NAME, parquet:FOLDER; tcp://HOST:PORT, tcp-listen://:PORT; "
                     "-: standard "
                     "output (default)")
        ->type_name("FILE");
    command->add_flag("--no-header", options->no_header, "The first line is a row");
    add_dialect_options(*command, *options);
    command->add_flag("--drop-open", options->drop_open,
                      "Windows that the end of the input cuts short are not written");
    command->add_flag("--skip-malformed", options->skip_malformed,
                      "Count malformed rows instead of stopping at the first");
    command
        ->add_option("--dead-letter", options->dead_letter,
                     "Count malformed rows and write them here: file, line, reason and the row")
        ->type_name("FILE");
    add_write_option(*command, options->job.writing);
    add_output_format_option(*command, options->job.output_format);
    add_run_arguments(*command, options->arguments);
    add_http_options(*command, options->arguments.session);
    command->callback([&action, options] { action = [options] { return run_windows(*options); }; });
}

}  // namespace strid::tool
