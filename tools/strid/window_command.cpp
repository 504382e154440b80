// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "commands.hpp"
#include "window/window_graph.hpp"

namespace strid::tool {

namespace {

using Windows = std::variant<window::TimeWindows, window::SessionWindows, window::CountWindows>;

constexpr const char* description =
    "Compute windows over a table: CSV or JSON lines in, one row of CSV out for each window of "
    "each key, written when the window is complete";

/// Its braces are the limits of `LargeTable`.
constexpr const char* footer =
    "Windows:     tumbling:10s   sliding:10s/1s (length/slide)   session:30s (gap)\n"
    "             count:1000   count:1000/25   (records of the key; they need no --time)\n"
    "Aggregates:  count count(x) sum(x) mean(x) min(x) max(x) stddev(x) var(x) median(x) p99(x)\n"
    "             distinct(x) distinct_approximately(x); stddev and var are those of a sample;\n"
    "             quantiles are exact up to 512 values in a window, sketched above;\n"
    "             distinct_approximately is exact up to 2,048 different values, has a standard\n"
    "             error of 0.8 % above and takes 16 KB at most; empty fields are passed over,\n"
    "             one that is no finite number makes the row malformed. At most {} keys, {} "
    "columns\n"
    "             of values and {} aggregates\n"
    "Columns:     by their name in the first line, or by number from 1 with --no-header; a name\n"
    "             with a comma stands in quotes: --key '\"last, first\"' --aggregate "
    "'sum(\"a,b\")'\n"
    "JSON:        an object a line; columns are members, a.b the member b of the object a. "
    "Strings\n"
    "             are read as the fields of CSV are; numbers stay as they are written. A value\n"
    "             that is missing or null is passed over, as an empty field is; a key that is\n"
    "             null is an empty one. A row without a time or a key is malformed\n"
    "Output:      the keys, window_start, window_end (not included), the aggregates in order.\n"
    "             The windows of a key come in order, those of different keys as they are ready.\n"
    "             Bounds are written as the times were read; those of count windows are the\n"
    "             position of the first record and one past the last; a session ends one gap\n"
    "             after its last record. Integers need lengths, slides and gaps of whole --units\n"
    "Late rows:   a row is late where it is --disorder behind the latest time before it and all\n"
    "             its windows are over for longer than --lateness. A window that late rows change\n"
    "             is written again. --late gets late rows as they were read, below the header\n"
    "             of CSV\n"
    "\n"
    "Examples:\n"
    "  strid window --input readings.csv --key device --time at --window sliding:10s/1s \\\n"
    "      --aggregate 'count,mean(value),p99(value)'\n"
    "  tail -f clicks.csv | strid window --no-header --key 2 --time 1 --window session:30m \\\n"
    "      --aggregate count --disorder 5s --late late.csv\n"
    "  mosquitto_sub -t 'plant/#' | strid window --format json --key sensor.id --time at \\\n"
    "      --window tumbling:1m --aggregate 'mean(value),max(value)'\n"
    "  strid window --input quotes.csv --key symbol --window count:1000/25 \\\n"
    "      --aggregate 'min(price),max(price)' --output bars.csv\n";

struct WindowCommand {
    RunArguments arguments;
    WindowJob job;
    std::shared_ptr<TablePlan> plan = std::make_shared<TablePlan>();
    std::string keys;
    std::string windows;
    std::string aggregates;
    std::string late;
    std::string dead_letter;
    bool no_header = false;
    bool skip_malformed = false;
    bool drop_open = false;
};

std::uint64_t read_count(std::string_view text) {
    std::uint64_t count = 0;
    if (detail::read_integer(text, count) != nullptr || count == 0) {
        throw GraphError(fmt::format("--window: '{}' is not a number of records", text));
    }
    return count;
}

/// Reads what stands in --window.
Windows read_windows(std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view sizes = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const auto slash = sizes.find('/');
    const std::string_view length = sizes.substr(0, slash);
    const std::string_view slide =
        slash == std::string_view::npos ? length : sizes.substr(slash + 1);
    const bool is_sliding = slash != std::string_view::npos;
    if (!sizes.empty()) {
        if (kind == "tumbling" && !is_sliding) {
            return window::TimeWindows::tumbling(read_duration(length));
        }
        if (kind == "sliding" && is_sliding) {
            return window::TimeWindows::sliding(read_duration(length), read_duration(slide));
        }
        if (kind == "session" && !is_sliding) {
            return window::SessionWindows::with_gap(read_duration(length));
        }
        if (kind == "count") {
            return window::CountWindows::sliding(read_count(length), read_count(slide));
        }
    }
    throw GraphError(fmt::format(
        "--window: '{}' is none of tumbling:10s, sliding:10s/1s, session:30s, count:1000/25",
        text));
}

constexpr std::array<std::pair<const char*, std::int64_t>, 4> units = {
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};

/// Why windows of these sizes have bounds that are no whole numbers of the unit; empty: they have
/// not.
std::string misfit(std::string_view asked, std::int64_t unit_ns,
                   std::initializer_list<std::pair<const char*, Duration>> sizes) {
    const auto* const unit = std::find_if(
        units.begin(), units.end(), [unit_ns](const auto& one) { return one.second == unit_ns; });
    for (const auto& [name, size] : sizes) {
        if (size.count() % unit_ns == 0) continue;
        return fmt::format(
            "--window: the {} of '{}' is no whole number of {}, the --unit that integers in --time "
            "count and bounds are written in; ask for whole {}, or read times of ISO 8601",
            name, asked, unit->first, unit->first);
    }
    return {};
}

std::string misfit(std::string_view asked, std::int64_t unit_ns, const Windows& windows) {
    if (const auto* const time = std::get_if<window::TimeWindows>(&windows)) {
        return misfit(asked, unit_ns, {{"length", time->length()}, {"slide", time->slide()}});
    }
    if (const auto* const session = std::get_if<window::SessionWindows>(&windows)) {
        return misfit(asked, unit_ns, {{"gap", session->gap()}});
    }
    return {};
}

CsvColumn column(const std::string& name, bool no_header) {
    if (!no_header) return name;
    int number = 0;
    if (detail::read_integer(name, number) != nullptr || number < 1) {
        throw GraphError(fmt::format(
            "'{}' is not the number of a column, and --no-header says there are no names", name));
    }
    return number;
}

/// By the name of the file where no format is asked for; standard input shows it itself.
void choose_format(WindowJob& job, bool no_header) {
    if (job.format == TableFormat::unknown) job.format = format_by_name(job.input);
    if (!no_header) return;
    if (job.format == TableFormat::json) {
        throw GraphError("--no-header is for CSV: the members of JSON have names");
    }
    job.format = TableFormat::csv;
}

void complete(WindowCommand& command) {
    WindowJob& job = command.job;
    TablePlan& plan = *command.plan;
    plan.keys = read_columns(command.keys);
    if (plan.keys.size() > LargeTable::keys_max) {
        throw GraphError(fmt::format("--key: more than {} columns", LargeTable::keys_max));
    }
    plan.read_aggregates(command.aggregates);
    for (const std::string& key : plan.keys) {
        job.csv.columns.push_back(column(key, command.no_header));
    }
    if (!plan.time.empty()) job.csv.columns.push_back(column(plan.time, command.no_header));
    for (const ValueColumn& value : plan.values) {
        job.csv.columns.push_back(column(value.name, command.no_header));
    }
    if (job.csv.columns.empty()) job.csv.columns.push_back(1);  // rows are only counted
    job.csv.header = command.no_header ? CsvHeader::none : CsvHeader::skip;
    if (command.skip_malformed) job.csv.on_malformed = OnMalformed::skip;
    if (!command.dead_letter.empty()) {
        job.csv.on_malformed = OnMalformed::dead_letter;
        job.csv.dead_letter_path = command.dead_letter;
    }
    if (!command.late.empty()) job.late = std::make_shared<LateFile>(command.late);
    if (command.drop_open) job.window.at_end = OpenWindows::drop;
    job.window.name = "window";
}

/// With the smallest rows, states and results that have room for what is asked.
template <class Spec>
void build_smallest(Graph& graph, const WindowJob& job, const Spec& windows) {
    if (job.plan->fits<NarrowTable>()) {
        if (!job.late) return build_windows<NarrowTable>(graph, job, windows);
        if constexpr (!std::is_same_v<Spec, window::CountWindows>) {
            return build_windows<NarrowTableOfLines>(graph, job, windows);
        }
    }
    if (job.plan->fits<WideTable>()) return build_windows<WideTable>(graph, job, windows);
    build_windows<LargeTable>(graph, job, windows);
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

int run_windows(WindowCommand& command) {
    const Windows windows = read_windows(command.windows);
    const bool counts = std::holds_alternative<window::CountWindows>(windows);
    WindowJob& job = command.job;
    if (counts) {
        if (!command.late.empty() || job.window.lateness != Duration::zero() ||
            job.disorder != Duration::zero()) {
            throw GraphError(
                "windows of a number of records take them as they come: --disorder, --lateness and "
                "--late are for windows of time");
        }
        command.plan->time.clear();
    } else if (command.plan->time.empty()) {
        throw GraphError("windows of time need --time COL");
    }
    command.plan->format.misfit = misfit(command.windows, command.plan->format.unit_ns, windows);
    choose_format(job, command.no_header);
    complete(command);
    job.plan = command.plan;
    if (job.input == "-" && ::isatty(STDIN_FILENO) == 1 && !command.arguments.session.quiet) {
        write_to_stderr("strid: reading from the terminal; --input FILE names a file\n");
    }
    Graph graph{"window"};
    std::visit([&](const auto& spec) { build_smallest(graph, job, spec); }, windows);
    const int status = run_session(graph, command.arguments.run, command.arguments.session);
    if (!command.arguments.session.quiet) write_to_stderr(values_in_no_row(*job.plan));
    return status;
}

void add_time_options(CLI::App& command, WindowCommand& options) {
    WindowJob& job = options.job;
    command.add_option("--time", options.plan->time, "When a row happened: integers or ISO 8601")
        ->type_name("COL");
    add_choice<std::int64_t>(command, "--unit", options.plan->format.unit_ns,
                             {units.begin(), units.end()},
                             "What integers in --time count (default ms, since 1970)");
    add_text_option(
        command, "--disorder", "TIME",
        [&job](const std::string& text) { job.disorder = read_duration_or_zero(text); },
        "How far rows may lie behind the latest before them (default 0)");
    add_text_option(
        command, "--lateness", "TIME",
        [&job](const std::string& text) { job.window.lateness = read_duration_or_zero(text); },
        "For how long a complete window still takes rows (default 0)");
    command
        .add_option("--late", options.late, "Where late rows go; otherwise they are only counted")
        ->type_name("FILE");
}

}  // namespace

void add_window_command(CLI::App& app, Action& action) {
    auto options = std::make_shared<WindowCommand>();
    CLI::App* const command = app.add_subcommand("window", description);
    command->footer(fmt::format(footer, LargeTable::keys_max, LargeTable::values_max,
                                LargeTable::aggregates_max));
    command
        ->add_option("--input", options->job.input,
                     "Plain, gzip or zstd; -: standard input (default)")
        ->type_name("FILE");
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
    command->add_option("--output", options->job.output, "-: standard output (default)")
        ->type_name("FILE");
    command->add_flag("--no-header", options->no_header, "The first line is a row");
    command->add_flag("--drop-open", options->drop_open,
                      "Windows that the end of the input cuts short are not written");
    command->add_flag("--skip-malformed", options->skip_malformed,
                      "Count malformed rows instead of stopping at the first");
    command
        ->add_option("--dead-letter", options->dead_letter,
                     "Count malformed rows and write them here: file, line, reason and the row")
        ->type_name("FILE");
    add_run_arguments(*command, options->arguments);
    command->callback([&action, options] { action = [options] { return run_windows(*options); }; });
}

}  // namespace strid::tool
