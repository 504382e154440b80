// SPDX-License-Identifier: Apache-2.0
//
// Figure 1.5 of paper 4 by one library at a time: a farm whose tasks take a given time, or a ring
// of stages. Each round is a line of JSON; a farm's has the seconds of a loop over the same tasks,
// in turn with it, too, and the part of its processor time that the loop takes. The sum of what the
// tasks made is compared with the loop's.
//
//     farm_ring_bench --by list          the libraries that this build has
//     farm_ring_bench --shape steps      steps of work in a microsecond, for --steps-per-us
//     farm_ring_bench --shape farm --by strid --threads 2 --grain-ns 500 --tasks 1000000
//     farm_ring_bench --shape ring --by strid --stages 4 --batch 256 --grain-ns 0 --rounds 5
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/command_line.hpp"
#include "loads.hpp"
#include "strid_patterns.hpp"

#ifdef _OPENMP
#include "openmp_patterns.hpp"
#endif
#ifdef STRID_BENCH_TBB
#include "tbb_patterns.hpp"
#endif

namespace {

using namespace strid;
using namespace strid::bench;

/// A library's version of a load, where it has one.
struct Contender {
    std::string name;
    std::function<std::uint64_t(const FarmLoad&)> farm;
    std::function<std::uint64_t(const RingLoad&)> ring;
};

std::vector<Contender> contenders() {
    std::vector<Contender> all{{"strid", strid_farm, strid_ring}};
#ifdef STRID_BENCH_TBB
    const auto chain_of = [](const FarmLoad& load) {
        return peers::TbbChain{
            .tasks = load.tasks, .farmed = true, .steps = load.steps, .threads = load.threads};
    };
    all.push_back(
        {"tbb-pipeline",
         [=](const FarmLoad& load) { return peers::tbb_parallel_pipeline(chain_of(load)); },
         {}});
    all.push_back({"tbb-graph",
                   [=](const FarmLoad& load) { return peers::tbb_flow_graph(chain_of(load)); },
                   peers::tbb_ring});
#endif
#ifdef _OPENMP
    all.push_back({"openmp-tasks", peers::openmp_farm, peers::openmp_ring});
#endif
    return all;
}

void print_list() {
    for (const Contender& one : contenders()) {
        fmt::print("{}{}{}\n", one.name, one.farm ? " farm" : "", one.ring ? " ring" : "");
    }
}

struct Settings {
    std::string shape = "farm";
    std::string by = "strid";
    std::size_t threads = 0;
    double grain_ns = 0;
    double steps_per_us = 0;  // 0: measured
    std::uint64_t tasks = 1'000'000;
    std::size_t stages = 4;
    std::size_t batch = 256;
    std::size_t rounds = 3;
};

void check(const Settings& settings, std::uint64_t sum, std::uint64_t expected) {
    if (sum == expected) return;
    throw std::runtime_error(fmt::format("wrong answer: the {} of {} has the sum {}, a loop {}",
                                         settings.shape, settings.by, sum, expected));
}

void print_round(const Settings& settings, std::size_t round, const Spent& spent,
                 const std::string& more) {
    fmt::print(
        "{{\"shape\": \"{}\", \"by\": \"{}\", \"threads\": {}, \"grain_ns\": {}, \"tasks\": {}, "
        "\"round\": {}, \"seconds\": {:.6f}, \"processor_seconds\": {:.6f}, \"per_second\": "
        "{:.0f}{}}}\n",
        settings.shape, settings.by, settings.threads, settings.grain_ns, settings.tasks, round,
        spent.seconds, spent.processor_seconds, static_cast<double>(settings.tasks) / spent.seconds,
        more);
    std::fflush(stdout);
}

void run_farm(const Settings& settings, const Contender& contender) {
    const FarmLoad load{.tasks = settings.tasks,
                        .threads = settings.threads,
                        .steps = steps_of(settings.grain_ns, settings.steps_per_us)};
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        std::uint64_t sum = 0;
        std::uint64_t expected = 0;
        const Spent loop = spent_by([&] { expected = loop_of(load); });
        const Spent farm = spent_by([&] { sum = contender.farm(load); });
        check(settings, sum, expected);
        print_round(settings, round, farm,
                    fmt::format(", \"loop_seconds\": {:.6f}, \"speed_up\": {:.4f}, "
                                "\"work_share\": {:.4f}",
                                loop.seconds, loop.seconds / farm.seconds,
                                loop.processor_seconds / farm.processor_seconds));
    }
}

void run_ring(const Settings& settings, const Contender& contender) {
    if (settings.stages < 2 || settings.batch == 0) {
        throw std::invalid_argument("a ring has two stages at least, and batches of one message");
    }
    const RingLoad load{.messages = settings.tasks,
                        .stages = settings.stages,
                        .batch = settings.batch,
                        .threads = settings.threads,
                        .steps = steps_of(settings.grain_ns, settings.steps_per_us)};
    const std::uint64_t expected = loop_of(load);
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        std::uint64_t sum = 0;
        const Spent spent = spent_by([&] { sum = contender.ring(load); });
        check(settings, sum, expected);
        print_round(
            settings, round, spent,
            fmt::format(", \"stages\": {}, \"batch\": {}", settings.stages, settings.batch));
    }
}

Settings read(int argc, char** argv) {
    Settings settings;
    CommandLine({{"--shape", text_into(settings.shape)},
                 {"--by", text_into(settings.by)},
                 {"--threads", number_into(settings.threads)},
                 {"--grain-ns", number_into(settings.grain_ns)},
                 {"--steps-per-us", number_into(settings.steps_per_us)},
                 {"--tasks", number_into(settings.tasks)},
                 {"--stages", number_into(settings.stages)},
                 {"--batch", number_into(settings.batch)},
                 {"--rounds", number_into(settings.rounds)}})
        .read(argc, argv);
    if (settings.grain_ns < 0 || settings.steps_per_us < 0 || settings.tasks == 0 ||
        settings.rounds == 0) {
        throw std::invalid_argument("tasks and rounds are at least one, times at least 0");
    }
    return settings;
}

void run_one(const Settings& settings) {
    for (const Contender& one : contenders()) {
        if (one.name != settings.by) continue;
        if (settings.shape == "farm" && one.farm) return run_farm(settings, one);
        if (settings.shape == "ring" && one.ring) return run_ring(settings, one);
    }
    throw std::invalid_argument(fmt::format(
        "this build has no {} by {}; --by list says what it has", settings.shape, settings.by));
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings = read(argc, argv);
    if (settings.by == "list") {
        print_list();
        return 0;
    }
    if (settings.steps_per_us == 0) settings.steps_per_us = measure_steps_per_us();
    if (settings.shape == "steps") {
        fmt::print("{:.3f}\n", settings.steps_per_us);
        return 0;
    }
    run_one(settings);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
}
