// SPDX-License-Identifier: Apache-2.0
//
// `strid bench`: measures applications against hand-written programs, answers checked.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "apps/common/application_main.hpp"
#include "bench/bar.hpp"
#include "bench_cases.hpp"
#include "drawn_input.hpp"
#include "papers/2-windflow/all_applications.hpp"

namespace strid::tool {

namespace {

namespace hand = strid::bench::hand;

using Applications = std::vector<std::unique_ptr<apps::Application>>;

struct BenchCommand {
    std::chrono::nanoseconds duration = std::chrono::milliseconds(250);
    std::size_t rounds = 15;
    std::size_t workers = 0;
    std::size_t lines = 500'000;  // 0: the input as it is
    std::string folder = "papers/2-windflow";
    std::vector<std::string> only;
};

apps::Application& find(const Applications& applications, const std::string& name) {
    for (const auto& application : applications) {
        if (application->name() == name) return *application;
    }
    std::vector<std::string> names;
    for (const auto& application : applications) names.emplace_back(application->name());
    throw GraphError(fmt::format("there is no application '{}'{}", name, suggestion(name, names)));
}

void set_options(apps::Application& application, const BenchCase& measured,
                 const std::string& folder) {
    CLI::App command;
    application.add_options(command);
    std::vector<std::string> words;
    for (const std::string& word : measured.options) {
        words.push_back(word.starts_with("{}") ? folder + word.substr(2) : word);
    }
    std::reverse(words.begin(), words.end());  // as CLI::App takes them
    command.parse(words);
}

RunReport replayed(apps::Application& application, const std::string& input,
                   std::chrono::nanoseconds duration, std::size_t workers) {
    Graph graph{std::string(application.name())};
    apps::Endpoints ends{.input = input, .output = "", .duration = duration};
    application.build(graph, ends);
    const RunOptions options{.workers = workers};
    return run(graph, ends.replays() ? apps::replay_options(options, application) : options);
}

/// The rate of the machine: the hand-written program `copies` times at once, their rates together.
double at_once(const BenchCase& measured, const std::string& input, const BenchCommand& bench,
               std::size_t copies) {
    std::vector<std::future<double>> rates;
    for (std::size_t i = 0; i < copies; ++i) {
        rates.push_back(std::async(std::launch::async, [&measured, &input, &bench] {
            BenchAnswer unused;
            return measured.by_hand(input, bench.folder, bench.duration, unused)
                .records_per_second();
        }));
    }
    double sum = 0;
    for (auto& rate : rates) sum += rate.get();
    return sum;
}

struct Rate {
    double median = 0;
    double spread = 0;  // half of the range, relative to the median
};

Rate rate_of(std::vector<double> rates) {
    std::sort(rates.begin(), rates.end());
    const double median = rates[rates.size() / 2];
    return {median, median > 0 ? (rates.back() - rates.front()) / 2 / median : 0};
}

/// The median of the ratios round by round: what disturbs the machine for longer than a round
/// disturbs both sides of a ratio.
double paired_ratio(const std::vector<double>& rates, const std::vector<double>& others) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rates.size(); ++i) ratios.push_back(rates[i] / others[i]);
    return rate_of(std::move(ratios)).median;
}

std::string quantity(double value) {
    if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
    if (value >= 1e3) return fmt::format("{:.1f} k", value / 1e3);
    return fmt::format("{:.0f}", value);
}

std::string row(const std::string& title, const std::string& what, const Rate& rate,
                double megabytes, const LatencyReport& latency, const std::string& compared) {
    const auto us = [](std::int64_t ns) {
        return fmt::format("{:.0f}", static_cast<double>(ns) / 1e3);
    };
    return fmt::format("{:<20} {:<12} {:>10} {:>4.0f}% {:>8} {:>8} {:>8}  {}\n", title, what,
                       quantity(rate.median), rate.spread * 100,
                       megabytes > 0 ? fmt::format("{:.0f}", megabytes) : "",
                       latency.count > 0 ? us(latency.p50_ns) : "",
                       latency.count > 0 ? us(latency.p99_ns) : "", compared);
}

/// One pass of the same input must give the results that the hand-written program has: as many, and
/// with the same sum of their last column, but for the rounding of sums.
void check_answer(const BenchCase& measured, apps::Application& application,
                  const std::string& input, const std::string& folder) {
    BenchAnswer expected;
    const auto by_hand = measured.by_hand(input, folder, std::chrono::nanoseconds(0), expected);
    const TemporaryFile rows{temporary_path("answer.csv")};
    Graph graph{measured.title};
    application.build(graph, {.input = input, .output = rows.path.string()});
    const RunReport report = run(graph, {.workers = 1});
    const std::string text = hand::read_file(rows.path.string());
    BenchAnswer answer;
    for (const std::string_view row : hand::split_lines(text)) {
        ++answer.results;
        answer.sum += hand::parse_number<double>(row.substr(row.rfind(',') + 1));
    }
    if (report.records_in() == by_hand.records && answer.results == expected.results &&
        std::abs(answer.sum - expected.sum) <= 1e-9 * std::abs(expected.sum)) {
        return;
    }
    throw Error(fmt::format("{}: {} records gave {} results that sum up to {}, by hand {}, {}, {}",
                            measured.title, report.records_in(), answer.results, answer.sum,
                            by_hand.records, expected.results, expected.sum));
}

/// The result of one case: its rows, and its bars.
struct Measured {
    std::string rows;
    std::string bars;
};

/// The bars: of one worker against the program by hand, of two against one.
std::string bars_of(const BenchCase& measured, const std::vector<std::size_t>& workers,
                    const std::vector<std::vector<double>>& rates,
                    const std::vector<double>& by_hand) {
    using strid::bench::Bar;
    using strid::bench::bar_line;
    std::string text =
        bar_line(measured.title + ", 1 worker / by hand", paired_ratio(rates[0], by_hand),
                 Bar::at_least, measured.by_hand_least);
    if (workers.back() == 2) {
        text += bar_line(measured.title + ", 2 workers / 1 worker",
                         paired_ratio(rates.back(), rates[0]), Bar::at_least,
                         measured.two_workers_least);
    }
    return text;
}

Measured measure(const BenchCase& measured, apps::Application& application,
                 const BenchCommand& bench) {
    std::string input = bench.folder + '/' + measured.input;
    if (!std::filesystem::exists(input)) {
        throw InputOutputError(
            fmt::format("{}: no such file; run in the project's folder, or name "
                        "the folder of the applications with --data",
                        input));
    }
    const TemporaryFile drawn{temporary_path("input")};
    if (measured.make || bench.lines != 0) {
        if (measured.make) {
            measured.make(drawn.path, bench.lines);
        } else {
            draw_lines(input, bench.lines, drawn.path);
        }
        input = drawn.path.string();
    }
    set_options(application, measured, bench.folder);
    check_answer(measured, application, input, bench.folder);
    std::vector<std::size_t> workers{1};
    const std::size_t all = bench.workers != 0 ? bench.workers : apps::cores();
    if (all > 1) workers.push_back(all);
    std::vector<double> by_hand;
    std::vector<double> hands;  // of as many copies at once as there are workers
    std::vector<std::vector<double>> rates(workers.size());
    std::vector<double> megabytes(workers.size());
    std::vector<LatencyReport> latency(workers.size());
    for (std::size_t round = 0; round < bench.rounds; ++round) {
        BenchAnswer unused;
        by_hand.push_back(
            measured.by_hand(input, bench.folder, bench.duration, unused).records_per_second());
        for (std::size_t w = 0; w < workers.size(); ++w) {
            const RunReport report = replayed(application, input, bench.duration, workers[w]);
            rates[w].push_back(static_cast<double>(report.records_in()) / report.seconds);
            latency[w] = report.latency;
            if (const auto bytes = application.bytes_done()) {
                megabytes[w] = static_cast<double>(bytes()) / report.seconds / 1e6;
            }
        }
        if (all > 1) hands.push_back(at_once(measured, input, bench, all));
    }
    std::string text = row(measured.title, "by hand", rate_of(by_hand), 0, {}, "");
    if (all > 1) {
        text += row(
            "", fmt::format("{} at once", all), rate_of(hands), 0, {},
            fmt::format("{:.2f} of by hand: what the machine gives", paired_ratio(hands, by_hand)));
    }
    for (std::size_t w = 0; w < workers.size(); ++w) {
        std::string compared = fmt::format("{:.2f} of by hand", paired_ratio(rates[w], by_hand));
        if (w > 0)
            compared += fmt::format(", {:.2f} of 1 worker", paired_ratio(rates[w], rates[0]));
        text += row("", fmt::format("{} worker{}", workers[w], workers[w] == 1 ? "" : "s"),
                    rate_of(rates[w]), megabytes[w], latency[w], compared);
    }
    return {std::move(text), bars_of(measured, workers, rates, by_hand)};
}

int run_bench(const BenchCommand& bench, const Applications& applications) {
    for (const std::string& name : bench.only) find(applications, name);
    write_to_stdout(fmt::format("{:<20} {:<12} {:>10} {:>5} {:>8} {:>8} {:>8}\n", "replayed input",
                                "", "records/s", "+-", "MB/s", "p50 us", "p99 us"));
    std::string bars;
    for (const BenchCase& measured : bench_cases()) {
        const bool chosen = bench.only.empty() ||
                            std::find(bench.only.begin(), bench.only.end(), measured.application) !=
                                bench.only.end();
        if (!chosen) continue;
        const Measured done = measure(measured, find(applications, measured.application), bench);
        write_to_stdout(done.rows);
        bars += done.bars;
    }
    write_to_stdout('\n' + bars);
    return ExitCode::done;
}

int bench_main(int argc, char** argv) {
    BenchCommand bench;
    CLI::App app{"Measure the applications against hand-written programs, answers checked",
                 "strid bench"};
    app.add_option("APP", bench.only, "The applications to measure (default: all)");
    add_text_option(
        app, "--duration", "TIME",
        [&bench](const std::string& text) { bench.duration = read_duration(text); },
        "Of one measurement (default: 250ms)");
    add_number_option(
        app, "--rounds", bench.rounds, 1, 1000,
        fmt::format("Measurements; the medians count, of the rates and of the ratios (default: {})",
                    bench.rounds));
    add_number_option(app, "--workers", bench.workers, 0, parallelism_max,
                      "Workers beside one; 0: one per core");
    add_number_option(
        app, "--lines", bench.lines, 0, 1'000'000'000,
        fmt::format("Length of an input: lines drawn at random from the one in --data, or made "
                    "where their order counts; 0: that one as it is (default: {})",
                    bench.lines));
    app.add_option("--data", bench.folder, "The folder of the applications with their data")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.footer(
        "Rates of an input that is replayed from memory at full speed: the latency is "
        "that of a loaded\nengine. `strid run APP --duration 10s --rate N` measures "
        "latency at a rate. A short input, replayed,\nis known by heart to the processor after a "
        "few passes: see --lines.");
    if (const auto code = parse_arguments(app, argc, argv)) return *code;
    return run_bench(bench, apps::all_applications());
}

}  // namespace

}  // namespace strid::tool

int main(int argc, char** argv) {
    return strid::with_errors_reported([&] { return strid::tool::bench_main(argc, argv); });
}
