// SPDX-License-Identifier: Apache-2.0
//
// The baseline of `strid ssa`: the same trajectories one after the other and the same
// statistics, without a pattern and without threads.
//
//     sequential_ssa METHOD UNTIL RUNS SEED MODEL > statistics.csv
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <strid/engine/base/terminal.hpp>
#include <strid/program/session.hpp>

#include "model.hpp"
#include "runner.hpp"
#include "statistics_table.hpp"

namespace {

using namespace strid;
using namespace strid::ssa;

MethodKind method_named(const std::string& name) {
    if (name == "direct") return MethodKind::direct;
    if (name == "next-reaction") return MethodKind::next_reaction;
    if (name == "tau-leaping") return MethodKind::tau_leaping;
    throw std::invalid_argument("no such method: " + name);
}

int sequential_main(int argc, char** argv) {
    if (argc != 6) {
        write_to_stderr("usage: sequential_ssa METHOD UNTIL RUNS SEED MODEL\n");
        return ExitCode::usage;
    }
    Plan plan;
    plan.method = method_named(argv[1]);
    plan.until = std::stod(argv[2]);
    const std::uint64_t runs = std::stoull(argv[3]);
    plan.seed = std::stoull(argv[4]);
    const Kinetics kinetics(read_model(argv[5], [] {}));
    Statistics statistics(plan.samples(), kinetics.reals(), runs, true);
    Runner runner(kinetics, plan, false);
    runner.begin(0, runs);
    while (!runner.advance(std::numeric_limits<std::uint32_t>::max(), statistics)) {
    }
    if (runner.failure()) std::rethrow_exception(runner.failure());
    write_statistics(statistics, kinetics.network(), plan, {0.05, 0.5, 0.95}, write_to_stdout);
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return strid::with_errors_reported([&] { return sequential_main(argc, argv); });
}
