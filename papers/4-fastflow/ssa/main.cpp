// SPDX-License-Identifier: Apache-2.0
//
// `strid ssa`: many trajectories of a network of reactions, reduced to statistics while they are
// simulated.
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "farm.hpp"
#include "model.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "sbml_model.hpp"
#include "statistics_table.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/progress.hpp"

namespace {

using namespace strid;
using namespace strid::ssa;

void check_memory(const Arguments& arguments, const Network& network) {
    const std::size_t cells = arguments.plan.samples() * network.species.size();
    if (cells <= Statistics::cells_max) return;
    throw GraphError(
        fmt::format("{} samples of {} species are more than {} cells: take fewer --samples",
                    arguments.plan.samples(), network.species.size(), Statistics::cells_max));
}

void check_method(const Arguments& arguments, const Kinetics& kinetics) {
    const MethodKind method = arguments.plan.method;
    const bool exact = method == MethodKind::direct || method == MethodKind::next_reaction;
    if (exact || !kinetics.is_hybrid()) return;
    throw GraphError(
        "the model has events, quantities that change all the time or rates that read the time, "
        "which leaps do not take: --method direct does");
}

/// Null: it is not wanted.
std::unique_ptr<Destination> open_if_named(const std::string& path) {
    if (path.empty()) return nullptr;
    auto file = std::make_unique<Destination>(path, Writing::whole);
    file->open();
    return file;
}

int run(const Arguments& arguments, const tool::Interruption& interruption) {
    check(arguments);
    if (!arguments.plot.empty()) check_gnuplot();
    const Kinetics kinetics(read_model(arguments.model, [&] { interruption.check(); }));
    const Network& network = kinetics.network();
    check_method(arguments, kinetics);
    check_memory(arguments, network);
    interruption.check();
    const std::unique_ptr<Destination> output = open_if_named(arguments.output);
    const std::unique_ptr<Destination> trajectories = open_if_named(arguments.trajectories);
    const std::unique_ptr<Destination> plot = open_if_named(arguments.plot);
    const std::atomic<bool>& interrupted = interruption.requested();

    FarmJob job{arguments.runs, arguments.workers, !arguments.quantiles.empty(), {}};
    if (trajectories) {
        job.write = [&](std::string_view text) { trajectories->write(text, interrupted); };
        job.write(trajectory_header(network));
    }
    tool::Progress progress(" trajectories", arguments.runs, arguments.quiet);
    const Statistics statistics = simulate(kinetics, arguments.plan, job, interruption, progress);
    progress.clear();
    write_statistics(statistics, network, arguments.plan, arguments.quantiles,
                     [&](std::string_view text) { output->write(text, interrupted); });
    if (plot) {
        try {
            plot->write(draw(statistics, network, arguments.plan, arguments.quantiles),
                        interrupted);
        } catch (const Error&) {
            interruption.check();  // Ctrl-C ends gnuplot, too
            throw;
        }
    }
    interruption.check();
    if (trajectories) trajectories->commit(interrupted);
    if (plot) plot->commit(interrupted);
    output->commit(interrupted);
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{
            "Stochastic simulation of networks of reactions: statistics of many "
            "trajectories, each drawn by Gillespie's algorithm",
            "strid ssa"};
        Arguments arguments;
        add_options(app, arguments);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        return run(arguments, interruption);
    });
}
