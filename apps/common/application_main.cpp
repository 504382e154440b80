// SPDX-License-Identifier: Apache-2.0
#include "application_main.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/topology.hpp>
#include <strid/connector/dead_letter_file.hpp>
#include <strid/program/arguments.hpp>
#include <strid/program/picture.hpp>

#include "tools/common/http_options.hpp"
#include "tools/common/output_options.hpp"

namespace strid::apps {

namespace {

/// The command line of one application.
struct RunCommand {
    RunArguments arguments;
    Endpoints endpoints;
    std::string output;
    std::string dead_letter;
    Writing writing = Writing::whole;
    bool skip_malformed = false;
    bool measure = false;
};

void add_endpoints(CLI::App& command, RunCommand& run) {
    Endpoints& ends = run.endpoints;
    command
        .add_option("--input", ends.input,
                    "A file, plain or gzip, zstd, xz, bzip2; tcp://HOST:PORT, tcp-listen://:PORT, "
                    "unix://PATH, unix-listen://PATH, http-listen://:PORT/PATH; "
                    "-: standard input (default)")
        ->type_name("FILE");
    command
        .add_option("--output", run.output,
                    "-: standard output (default, but results are dropped with --duration)")
        ->type_name("FILE");
    add_text_option(
        command, "--generate", "N",
        [&ends](const std::string& text) { ends.generate = read_whole_number(text); },
        "Make so many records instead of reading them (spike-detection, fraud-detection, "
        "linear-road,\nvoip-stream, trading; the same ones for the same --seed): 1M");
    add_text_option(
        command, "--rate", "N",
        [&ends](const std::string& text) { ends.rate_per_second = read_rate(text); },
        "Records per second, open loop: 10000, 50k, 1.5M");
    add_text_option(
        command, "--duration", "TIME",
        [&ends](const std::string& text) { ends.duration = read_duration(text); },
        "Read the input into memory and replay it for so long: 5s, 2m");
    command.add_flag("--skip-malformed", run.skip_malformed,
                     "Count malformed records instead of stopping at the first");
    command
        .add_option("--dead-letter", run.dead_letter,
                    "Count malformed records and write them here: file, line, reason and the line")
        ->type_name("FILE");
    tool::add_write_option(command, run.writing);
    command.add_flag("--measure", run.measure,
                     "Measure the operators on the start of the input first, and give each the "
                     "replicas that its\nshare of the time asks for");
    command
        .add_option("--graph,--picture", run.arguments.session.picture_path,
                    "Draw the graph with the rates of the run")
        ->type_name("FILE.svg|.dot|.txt");
}

bool makes_records(const Application& application, const Endpoints& ends) {
    return ends.generate > 0 || application.makes_records();
}

/// Measures the cost of each operator alone, on one worker; the results are discarded.
std::map<std::string, double> measured_loads(Application& application, Endpoints ends) {
    using namespace std::chrono_literals;
    if (ends.input == "-" && !makes_records(application, ends))
        throw GraphError("--measure reads its input twice: name a file");
    if (ends.dead_letter) ends.on_malformed = OnMalformed::skip;
    ends.measures = true;
    ends.rate_per_second = 0;
    Graph graph{std::string(application.name())};
    application.build(graph, ends);
    Running running = start(graph, {.workers = 1, .fuse = false});
    for (auto waited = 0ms; waited < 300ms && !running.finished(); waited += 10ms) {
        std::this_thread::sleep_for(10ms);
    }
    running.stop();
    return running.wait().loads();
}

std::string described(const std::map<std::string, double>& loads) {
    std::string text = "strid: measured, ns per record of the source:";
    for (const auto& [name, load] : loads) text += fmt::format(" {} {:.1f}", name, load);
    return text + '\n';
}

/// Records that are made and replayed are all in memory, each of them some bytes at least.
void check_memory(const Endpoints& ends) {
    constexpr std::size_t record_bytes_min = 16;
    if (!ends.replays() || ends.generate <= half_of_memory_bytes() / record_bytes_min) return;
    throw GraphError(
        "--generate with --duration keeps all records in memory, and so many do not fit: make "
        "fewer, or leave --duration out");
}

int run_application(Application& application, RunCommand& run) {
    application.check();
    check_memory(run.endpoints);
    if (run.endpoints.generate > 0 && !application.facts().generates) {
        throw GraphError(
            fmt::format("{} cannot make its records: name an --input", application.name()));
    }
    const bool makes = makes_records(application, run.endpoints);
    if (makes && run.endpoints.input != "-") {
        throw GraphError("the records are made, and not read: leave --input out");
    }
    Endpoints ends = run.endpoints;
    ends.output = !run.output.empty() ? run.output : ends.replays() ? "" : "-";
    ends.seed = run.arguments.run.seed;
    ends.parallelism = run.arguments.run.parallelism;
    ends.writing = run.writing;
    if (run.skip_malformed) ends.on_malformed = OnMalformed::skip;
    if (!run.dead_letter.empty()) {
        ends.on_malformed = OnMalformed::dead_letter;
        ends.dead_letter = DeadLetterFile(run.dead_letter, run.writing);
    }
    if (ends.input == "-" && !makes && ::isatty(STDIN_FILENO) == 1 &&
        !run.arguments.session.quiet) {
        write_to_stderr("strid: reading from the terminal; --input FILE names a file\n");
    }
    tool::report_where_rows_are(ends.input, ends.output, run.writing, run.arguments.session.quiet);
    RunOptions options = application.options_of_form(
        ends.replays() ? replay_options(run.arguments.run, application) : run.arguments.run);
    if (run.measure) {
        options.loads = measured_loads(application, ends);
        if (!run.arguments.session.quiet) write_to_stderr(described(options.loads));
    }
    Graph graph{std::string(application.name())};
    application.build(graph, ends);
    SessionOptions session = run.arguments.session;
    session.bytes_done = application.bytes_done();
    session.files = application.files();
    return run_session(graph, options, session);
}

std::unique_ptr<CLI::App> command_of(Application& application, std::string_view word) {
    auto command = std::make_unique<CLI::App>(std::string(application.facts().summary),
                                              fmt::format("strid {} {}", word, application.name()));
    command->footer(std::string(application.facts().details.substr(1)));
    application.add_options(*command);
    return command;
}

int run_main(Application& application, int argc, char** argv) {
    const auto command = command_of(application, "run");
    RunCommand run;
    add_endpoints(*command, run);
    add_run_arguments(*command, run.arguments);
    tool::add_http_options(*command, run.arguments.session);
    if (const auto code = parse_arguments(*command, argc, argv)) return *code;
    return run_application(application, run);
}

int explain_main(Application& application, int argc, char** argv) {
    const auto command = command_of(application, "explain");
    RunArguments arguments;
    std::string picture;
    bool replays = false;
    bool shows_algebra = false;
    add_run_arguments(*command, arguments);
    command->add_flag("--algebra", shows_algebra,
                      "Also the derivation of its building blocks (paper 2)");
    command->add_option("--graph,--picture", picture, "Draw the graph, too")
        ->type_name("FILE.svg|.dot|.txt");
    add_text_option(
        *command, "--duration", "TIME",
        [&replays](const std::string& text) { replays = read_duration(text).count() > 0; },
        "As `run` with it: the input replayed from memory, its source as parallel as the rest");
    if (const auto code = parse_arguments(*command, argc, argv)) return *code;
    Graph graph{std::string(application.name())};
    application.build(graph, {});
    const RunOptions options = application.options_of_form(
        replays ? replay_options(arguments.run, application) : arguments.run);
    check_files(graph, {.picture_path = picture, .files = application.files()});
    if (!picture.empty()) draw(graph.description(options), picture);
    write_to_stdout(graph.explain(options));
    if (shows_algebra) write_to_stdout("\n" + graph.explain_algebra(options));
    return ExitCode::done;
}

}  // namespace

int application_main(int argc, char** argv, std::unique_ptr<Application> (*make)()) {
    return with_errors_reported([&] {
        const std::string_view word = argc > 1 ? argv[1] : "";
        const auto application = make();
        if (word == "explain") return explain_main(*application, argc - 1, argv + 1);
        if (word == "run") return run_main(*application, argc - 1, argv + 1);
        throw GraphError(fmt::format("`strid run {0}` and `strid explain {0}` start this program",
                                     application->name()));
    });
}

std::size_t cores() {
    const Topology topology = Topology::detect();
    return topology.cores().size();
}

RunOptions replay_options(const RunOptions& options, const Application& application) {
    if (application.facts().needs_order) return options;
    RunOptions result = options;
    std::size_t replicas = options.parallelism;
    if (replicas == 0 && options.mode == RunOptions::Mode::cooperative) {
        replicas = options.workers != 0 ? options.workers : cores();
    }
    // Numbers that are named on the command line stay.
    result.operator_parallelism.emplace(application.facts().source_name,
                                        std::max<std::size_t>(replicas, 1));
    return result;
}

}  // namespace strid::apps
