// SPDX-License-Identifier: Apache-2.0
//
// The patterns of paper 4 with tasks that do nothing, or work for a given time, beside oneTBB,
// OpenMP and rings by hand. Rounds take turns; tables give medians and the medians of the ratios of
// each round. Every answer is checked.
//
//   pattern_bench [TASKS [ROUNDS [PART]]]     default 2,000,000 tasks, 5 rounds, all parts:
//                                             empty, farm, ring, trip, loops, cholesky
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/pattern/accelerator.hpp>

#include "../bar.hpp"
#include "../statistics.hpp"
#include "loads.hpp"
#include "loops.hpp"
#include "strid_patterns.hpp"

#ifdef STRID_BENCH_TBB
#include "tbb_patterns.hpp"
#endif
#ifdef STRID_BENCH_EIGEN
#include "factorizations.hpp"
#endif

namespace {

using namespace strid;
using namespace strid::bench;
using namespace strid::pattern;

bool all_right = true;

void check(const std::string& what, std::uint64_t got, std::uint64_t expected) {
    if (got == expected) return;
    std::printf("WRONG ANSWER: %s: %llu, not %llu\n", what.c_str(),
                static_cast<unsigned long long>(got), static_cast<unsigned long long>(expected));
    all_right = false;
}

double seconds_of(const std::function<void()>& action) {
    const std::int64_t begin_ns = now_ns();
    action();
    return static_cast<double>(now_ns() - begin_ns) / 1e9;
}

auto numbers(std::uint64_t count) {
    return source([next = std::uint64_t{0}, count]() mutable -> std::optional<std::uint64_t> {
        if (next == count) return std::nullopt;
        return next++;
    });
}
auto add_to(std::uint64_t& sum) {
    return [&sum](std::uint64_t n) { sum += n; };
}
const auto same = [](std::uint64_t n) { return n; };

struct Contender {
    std::string name;
    std::function<std::uint64_t(std::uint64_t tasks)> run;
};

/// Million tasks a second of each, and how many times ours is as fast as the best of the others.
void compare(const char* what, const std::vector<Contender>& contenders, std::uint64_t tasks,
             int rounds, double bar) {
    std::vector<std::vector<double>> rates(contenders.size());
    std::vector<double> best;
    for (int round = 0; round < rounds; ++round) {
        double best_peer = 0;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            // A peer that takes fifty times as long is measured on fewer.
            const std::uint64_t count = i == 0 ? tasks : tasks / 10;
            std::uint64_t sum = 0;
            const double seconds = seconds_of([&] { sum = contenders[i].run(count); });
            check(std::string(what) + ", " + contenders[i].name, sum, count * (count - 1) / 2);
            rates[i].push_back(static_cast<double>(count) / seconds / 1e6);
            if (i != 0) best_peer = std::max(best_peer, rates[i].back());
        }
        if (best_peer != 0) best.push_back(rates[0].back() / best_peer);
    }
    std::printf("| %-28s |", what);
    for (std::size_t i = 0; i < 3; ++i) {
        if (i < contenders.size()) std::printf(" %8.2f |", median(rates[i]));
        if (i >= contenders.size()) std::printf("          |");
    }
    if (!best.empty()) std::printf(" %6.1f |", median(best));
    std::printf("\n");
    if (!best.empty()) {
        print_bar(std::string(what) + ", times the best of oneTBB", median(best), Bar::at_least,
                  bar);
    }
}

void empty_tasks(std::uint64_t tasks, int rounds) {
    std::printf(
        "Tasks that do nothing, million a second.\n\n"
        "| pattern | ours | oneTBB parallel_pipeline | oneTBB flow graph | times the best "
        "|\n|---|---:|---:|---:|---:|\n");
    const auto contenders = [](auto ours, std::size_t stages, bool parallel) {
        std::vector<Contender> all{{"ours", std::move(ours)}};
#ifdef STRID_BENCH_TBB
        all.push_back({"oneTBB parallel_pipeline", [=](std::uint64_t count) {
                           return peers::tbb_parallel_pipeline(
                               {.tasks = count, .stages = stages, .farmed = parallel});
                       }});
        all.push_back({"oneTBB flow graph", [=](std::uint64_t count) {
                           return peers::tbb_flow_graph(
                               {.tasks = count, .stages = stages, .farmed = parallel});
                       }});
#else
        (void)stages, (void)parallel;
#endif
        return all;
    };
    compare(
        "farm, 2 workers",
        contenders(
            [](std::uint64_t count) {
                std::uint64_t sum = 0;
                run(pipeline(numbers(count), farm(same, FarmOptions{.workers = 2}), add_to(sum)));
                return sum;
            },
            2, true),
        tasks, rounds, 15);
    compare("pipeline, 2 stages",
            contenders(
                [](std::uint64_t count) {
                    std::uint64_t sum = 0;
                    run(pipeline(numbers(count), add_to(sum)));
                    return sum;
                },
                2, false),
            tasks, rounds, 15);
    compare("pipeline, 3 stages",
            contenders(
                [](std::uint64_t count) {
                    std::uint64_t sum = 0;
                    run(pipeline(numbers(count), same, add_to(sum)));
                    return sum;
                },
                3, false),
            tasks, rounds, 15);
    compare("ordered farm, 2 workers",
            {{"ours",
              [](std::uint64_t count) {
                  std::uint64_t sum = 0;
                  run(pipeline(numbers(count), ordered_farm(same, FarmOptions{.workers = 2}),
                               add_to(sum)));
                  return sum;
              }}},
            tasks, rounds, 0);
}

/// Figure 1.5, left: how near two workers come to half of the time that one thread takes for the
/// same tasks in a loop.
void farm_efficiency(int rounds, double steps_per_us) {
    std::printf(
        "\nA farm of 2 workers: half of the time of a loop, of its time.\n\n"
        "| a task takes, us | efficiency |\n|---:|---:|\n");
    for (const auto& [grain_ns, bar] :
         {std::pair<double, double>{500, 0.80}, {1'000, 0.88}, {5'000, 0.95}}) {
        const FarmLoad load{.tasks = static_cast<std::uint64_t>(3e8 / grain_ns),
                            .threads = 2,
                            .steps = steps_of(grain_ns, steps_per_us)};
        std::vector<double> efficiencies;
        for (int round = 0; round < rounds; ++round) {
            std::uint64_t sum = 0;
            std::uint64_t expected = 0;
            const double seconds = seconds_of([&] { sum = strid_farm(load); });
            const double alone = seconds_of([&] { expected = loop_of(load); });
            check("farm", sum, expected);
            efficiencies.push_back(alone / 2 / seconds);
        }
        std::printf("| %.1f | %.3f |\n", grain_ns / 1e3, median(efficiencies));
        char what[64];
        std::snprintf(what, sizeof what, "farm of 2, efficiency at %.1f us", grain_ns / 1e3);
        print_bar(what, median(efficiencies), Bar::at_least, bar);
    }
}

/// Figure 1.5, right.
void ring(int rounds, double steps_per_us) {
    std::printf(
        "\nA ring of 4 stages, batches of 256, thousand messages a second.\n\n"
        "| a stage takes, us | Kmsg/s |\n|---:|---:|\n");
    for (const double grain_ns : {0.0, 500.0, 1'000.0, 5'000.0}) {
        const RingLoad load{.messages = grain_ns < 1'000 ? 1'000'000U : 100'000U,
                            .steps = steps_of(grain_ns, steps_per_us)};
        const std::uint64_t expected = loop_of(load);
        std::vector<double> rates;
        for (int round = 0; round < rounds; ++round) {
            std::uint64_t sum = 0;
            const double seconds = seconds_of([&] { sum = strid_ring(load); });
            check("ring", sum, expected);
            rates.push_back(static_cast<double>(load.messages) / seconds);
        }
        std::printf("| %.1f | %.0f |\n", grain_ns / 1e3, median(rates) / 1e3);
        if (grain_ns == 0) {
            print_reported("ring of 4 stages, batches of 256, stages that do nothing",
                           median(rates), "messages a second");
        }
    }
}

/// A task there and its result back, one at a time: by an accelerator, and by two rings and a
/// thread.
void round_trip(int rounds) {
    constexpr std::uint64_t trips = 100'000;
    std::vector<double> ours;
    std::vector<double> by_hand;
    for (int round = 0; round < rounds; ++round) {
        auto squares = accelerate<std::uint64_t>([](std::uint64_t n) { return n * n; });
        ours.push_back(seconds_of([&] {
                           for (std::uint64_t n = 0; n < trips; ++n) {
                               squares.offload(n);
                               check("accelerator", *squares.result(), n * n);
                           }
                       }) /
                       trips * 1e9);
        channel::SpscRing<std::uint64_t> there(16);
        channel::SpscRing<std::uint64_t> back(16);
        std::thread thread([&] {
            std::uint64_t n = 0;
            while (true) {
                const auto popped = there.try_pop(n);
                if (popped == channel::PopResult::closed) return;
                if (popped == channel::PopResult::ok) (void)back.try_push(n * n);
                relax();
            }
        });
        by_hand.push_back(seconds_of([&] {
                              for (std::uint64_t n = 0; n < trips; ++n) {
                                  (void)there.try_push(n);
                                  std::uint64_t result = 0;
                                  while (back.try_pop(result) != channel::PopResult::ok) relax();
                                  check("rings", result, n * n);
                              }
                          }) /
                          trips * 1e9);
        there.close();
        thread.join();
    }
    std::printf("\nA round trip: %.0f ns by the accelerator, %.0f ns by two rings.\n", median(ours),
                median(by_hand));
    print_bar("offload and result, of two rings by hand", median(ratios(ours, by_hand)),
              Bar::at_most, 2);
}

void loops(int rounds) {
    std::printf("\nLoops, seconds.\n\n| loop | contender | s |\n|---|---|---:|\n");
    const auto contenders = loop_contenders();
    for (const auto& [size, times] :
         {std::pair<std::size_t, int>{100'000'000, 1}, {10'000, 1'000}}) {
        Numbers in(size);
        for (std::size_t i = 0; i < size; ++i)
            in[i] = static_cast<std::uint32_t>(i * 2'654'435'761U);
        Numbers out(size);
        std::vector<std::vector<double>> seconds(contenders.size());
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t c = 0; c < contenders.size(); ++c) {
                std::fill(out.begin(), out.end(), 0U);
                seconds[c].push_back(seconds_of([&] {
                    for (int i = 0; i < times; ++i) contenders[c].run(in, out);
                }));
                std::uint64_t wrong = 0;
                for (std::size_t i = 0; i < size; ++i) wrong += out[i] != in[i] * 3 + 1;
                check(contenders[c].name, wrong, 0);
            }
        }
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            std::printf("| %d of %zu | %s | %.4f |\n", times, size, contenders[c].name.c_str(),
                        median(seconds[c]));
            if (c == 0) continue;
            char what[80];
            std::snprintf(what, sizeof what, "parallel_for, %d of %zu, of %s", times, size,
                          contenders[c].name.c_str());
            print_bar(what, median(ratios(seconds[c], seconds[0])), Bar::at_least, 0.95);
        }
    }
}

#ifdef STRID_BENCH_EIGEN
/// The Cholesky factorization by tiles, each of whose products must give the matrix again.
void cholesky(int rounds) {
    std::printf(
        "\nCholesky factorization of a matrix of 1536, milliseconds.\n\n"
        "| tiles of | one thread | task graph | oneTBB flow graph | of oneTBB's time |\n"
        "|---:|---:|---:|---:|---:|\n");
    constexpr Eigen::Index size = 1'536;
    const Matrix random = Matrix::Random(size, size);
    const Matrix matrix = random * random.transpose() + double(size) * Matrix::Identity(size, size);
    Team team;
    for (const Eigen::Index tile : {32, 64, 128}) {
        const auto measured = [&](const std::function<void(Tiles&)>& factor) {
            Tiles tiles(matrix, tile);
            const double seconds = seconds_of([&] { factor(tiles); });
            const Matrix lower = tiles.whole().triangularView<Eigen::Lower>();
            const double residual = (lower * lower.transpose() - matrix).norm() / matrix.norm();
            check("cholesky", residual < 1e-14 * double(size), 1);
            return seconds;
        };
        std::vector<double> alone, ours, theirs;
        for (int round = 0; round < rounds; ++round) {
            alone.push_back(measured(cholesky_alone));
            ours.push_back(measured([&](Tiles& tiles) { cholesky_by_task_graph(tiles, team); }));
#ifdef STRID_BENCH_TBB
            theirs.push_back(measured(cholesky_by_flow_graph));
#endif
        }
        std::printf("| %d | %.1f | %.1f |", int(tile), median(alone) * 1e3, median(ours) * 1e3);
        if (theirs.empty()) {
            std::printf(" | |\n");
            continue;
        }
        const double of_theirs = median(ratios(ours, theirs));
        std::printf(" %.1f | %.3f |\n", median(theirs) * 1e3, of_theirs);
        char what[80];
        std::snprintf(what, sizeof what, "Cholesky by tiles of %d, of the time of oneTBB",
                      int(tile));
        print_bar(what, of_theirs, Bar::at_most, 1.1);
    }
}
#endif

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t tasks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    const std::string part = argc > 3 ? argv[3] : "";
    bool known = part.empty();
    const auto wanted = [&](const char* name) {
        known = known || part == name;
        return part.empty() || part == name;
    };
    if (wanted("empty")) empty_tasks(tasks, rounds);
    const double steps_per_us = measure_steps_per_us();
    if (wanted("farm")) farm_efficiency(rounds, steps_per_us);
    if (wanted("ring")) ring(rounds, steps_per_us);
    if (wanted("trip")) round_trip(rounds);
    if (wanted("loops")) loops(rounds);
#ifdef STRID_BENCH_EIGEN
    if (wanted("cholesky")) cholesky(rounds);
#endif
    if (!known) {
        std::fprintf(stderr, "%s: there is no part '%s'\n", argv[0], part.c_str());
        return 2;
    }
    return all_right ? 0 : 1;
}
