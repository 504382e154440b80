// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <cmath>

#include <CLI/CLI.hpp>
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/program/arguments.hpp>

#include "statistics.hpp"

namespace strid::ssa {

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  strid ssa --until 50 model.txt > statistics.csv\n"
    "  strid ssa --until 50 --runs 10000 --method tau-leaping --plot model.svg model.xml\n"
    "  strid ssa --until 50 --runs 8 --trajectories all.csv --output mean.csv model.txt\n"
    "\n"
    "Model (text; a file that begins with < is SBML, level 2 or 3):\n"
    "  parameter k1 = 0.00166, k2 = 1e-4, k3 = 0.1     # numbers, or expressions of parameters\n"
    "  species S = 301, E = 120, SE = 0, P = 0         # initial counts\n"
    "  bind: S + E -> SE @ k1        # mass action: k1 S E; of 2 A -> B @ k: k A (A - 1) / 2\n"
    "  SE -> S + E @ k2              # S + E <-> SE @ k1, k2 says both\n"
    "  SE -> P + E @ k3\n"
    "  P -> 0 rate 2 * P / (10 + P)  # any other propensity, of counts and parameters\n"
    "\n"
    "Output: time, species, mean, variance (of the sample) and quantiles: the least count that so\n"
    "large a part of the trajectories is at or below; exact up to 256 trajectories and for counts\n"
    "below 512, within 0.2 % else. It depends on the model and on --seed, not on --workers.\n"
    "Exit codes: 0 done, 1 failed, 2 the command line makes no sense, 128 + signal";

double read_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        throw GraphError(fmt::format("'{}' is no number", text));
    }
    return value;
}

std::vector<double> read_quantiles(std::string_view text) {
    std::vector<double> quantiles;
    if (text == "none") return quantiles;
    while (true) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const double quantile = read_number(text.substr(0, comma));
        if (!(quantile >= 0 && quantile <= 1)) {
            throw GraphError(fmt::format("a quantile is from 0 to 1, not {}", quantile));
        }
        quantiles.push_back(quantile);
        if (comma == text.size()) return quantiles;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

void add_options(CLI::App& app, Arguments& arguments) {
    Plan& plan = arguments.plan;
    app.footer(footer);
    app.add_option("model", arguments.model, "The model; -: standard input")
        ->type_name("MODEL")
        ->required();
    add_text_option(
        app, "--until", "TIME",
        [&plan](const std::string& text) {
            plan.until = read_number(text);
            if (!(plan.until > 0))
                throw GraphError("the end of a trajectory is to be after time 0");
        },
        "When a trajectory ends, in the model's unit of time");
    app.get_option("--until")->required();
    add_choice<MethodKind>(app, "--method", plan.method,
                           {{"direct", MethodKind::direct},
                            {"next-reaction", MethodKind::next_reaction},
                            {"tau-leaping", MethodKind::tau_leaping},
                            {"implicit-tau", MethodKind::implicit_tau},
                            {"trapezoidal-tau", MethodKind::trapezoidal_tau}},
                           "direct (default) and next-reaction are exact; tau-leaping makes steps "
                           "of many events; implicit-tau and trapezoidal-tau make long ones where "
                           "fast reactions balance each other");
    add_text_option(
        app, "--epsilon", "PART",
        [&plan](const std::string& text) {
            plan.epsilon = read_number(text);
            if (!(plan.epsilon > 0 && plan.epsilon < 1)) {
                throw GraphError("it is to be above 0 and below 1");
            }
        },
        "The methods with tau: how much a propensity may change in a step, as a part of it. "
        "Default: 0.03");
    add_number_option(app, "--samples", plan.intervals, 1, 1'000'000,
                      "Intervals between sample times, the first of which is 0. Default: 100");
    add_number_option(app, "--runs", arguments.runs, 1, Statistics::runs_max,
                      "Trajectories. Default: 1000");
    add_number_option(app, "--seed", plan.seed, 0, UINT64_MAX, "Default: 1");
    add_text_option(
        app, "--quantiles", "Q[,Q]",
        [&arguments](const std::string& text) { arguments.quantiles = read_quantiles(text); },
        "Default: 0.05,0.5,0.95; none: only mean and variance");
    add_number_option(app, "--steps-max", plan.steps_max, 1, UINT64_MAX / 4,
                      "A trajectory with more steps is an error. Default: 1000000000");
    app.add_option("--output", arguments.output, "Statistics as CSV. -: standard output (default)")
        ->type_name("FILE");
    app.add_option("--trajectories", arguments.trajectories,
                   "All trajectories as CSV: number, time, counts")
        ->type_name("FILE");
    app.add_option("--plot", arguments.plot, "A picture of the statistics, drawn by gnuplot")
        ->type_name("FILE.svg");
    tool::add_worker_options(app, arguments.workers, "Threads. Default: one for each core");
    app.add_flag("--quiet", arguments.quiet, "No progress line");
}

void check(const Arguments& arguments) {
    std::vector<FileUse> uses{{FileUse::Kind::reads, arguments.model, false, nullptr, "the model"},
                              {FileUse::Kind::writes, arguments.output, true, nullptr, "--output"}};
    if (!arguments.trajectories.empty()) {
        uses.push_back(
            {FileUse::Kind::writes, arguments.trajectories, true, nullptr, "--trajectories"});
    }
    if (!arguments.plot.empty()) {
        if (!arguments.plot.ends_with(".svg")) {
            throw GraphError(
                fmt::format("--plot draws SVG: '{}' does not end in .svg", arguments.plot));
        }
        uses.push_back({FileUse::Kind::writes, arguments.plot, true, nullptr, "--plot"});
    }
    check_files(uses);
}

}  // namespace strid::ssa
