// SPDX-License-Identifier: Apache-2.0
//
// Figure 5a of paper 1: a generator multicasts tokens of 64 bytes to groups of workers, by the ways
// in which a token's memory is managed. The work is light, so that memory is the cost: each worker
// of the group reads the token and adds its words to eight sums. Prints CSV, a row for each size of
// the group and variant, of each figure the median and the quartiles of the rounds:
//
//     ns             time per token delivered
//     processor_ns   processor time per token delivered, over all threads
//     to_fastest     how many times faster than the fastest of the paper's own dynamic variants in
//                    the same round; by processor time in processor_to_fastest
//     to_limit       how many times slower than its static baseline: preallocated messages,
//                    preallocated blocks
//
// Behind the rows, lines of the bars of blocks from a pool: the worst size of the group of each.
//
//   multicast_bench [--workers N] [--groups 1,2,...] [--deliveries N] [--rounds N] [--in-flight N]
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <trading/block_carriers.hpp>
#include <trading/multicast.hpp>

#include <strid/base/clock.hpp>

#include "bench/bar.hpp"
#include "bench/command_line.hpp"
#include "bench/statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using namespace strid::apps::trading;

struct Token {
    std::array<std::uint64_t, 8> words{};
    bool operator==(const Token&) const = default;
};
static_assert(sizeof(Token) == 64);

struct Settings {
    std::size_t workers = 24;
    std::vector<std::size_t> groups = {1, 2, 4, 8, 12, 16, 24};
    std::size_t deliveries = 2'000'000;
    std::size_t rounds = 7;
    std::size_t in_flight = 2048;
};

void add(Token& sums, const Token& token) noexcept {
    for (std::size_t i = 0; i != token.words.size(); ++i) sums.words[i] += token.words[i];
}

/// The quotes that the generator sends again and again: made beforehand and read back in whole
/// registers, so that making a token costs every variant the same, and little. A prime number of
/// them, so that blocks near each other have other sums: one lost and one that came twice do not
/// make up for it.
std::vector<Token> make_tape() {
    std::mt19937_64 random(20'201);
    std::vector<Token> tape(61);
    for (Token& token : tape) std::ranges::generate(token.words, std::ref(random));
    return tape;
}

/// Of so many tokens of the tape, each delivered so many times.
Token sums_of(const std::vector<Token>& tape, std::uint64_t tokens, std::uint64_t times) noexcept {
    Token sums;
    for (std::size_t at = 0; at != tape.size(); ++at) {
        const std::uint64_t sent = (tokens + tape.size() - 1 - at) / tape.size() * times;
        for (std::size_t i = 0; i != sums.words.size(); ++i) {
            sums.words[i] += tape[at].words[i] * sent;
        }
    }
    return sums;
}

struct OfWorker {
    Token sums;
    std::uint64_t count = 0;
};

/// The cost of a delivered token in one run, in nanoseconds: of time, and of processor time over
/// all threads, which neighbours on the machine touch less.
struct Cost {
    double ns;
    double processor_ns;
};

/// Throws where a token was lost or came twice.
template <class Carrier>
Cost deliver(const Settings& settings, std::size_t group_size) {
    const std::size_t workers = settings.workers;
    const std::size_t tokens = std::max<std::size_t>(settings.deliveries / group_size, 1);
    Multicast<Carrier> multicast({workers, settings.in_flight, tokens});
    const std::vector<Token> tape = make_tape();
    std::atomic<std::size_t> ready{0};
    std::vector<OfWorker> of_workers(workers);
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker != workers; ++worker) {
        threads.emplace_back([&, worker] {
            ready.fetch_add(1);
            OfWorker own;
            multicast.receive_all(worker, [&](const Token& token) {
                add(own.sums, token);
                ++own.count;
            });
            of_workers[worker] = own;
        });
    }
    while (ready.load() != workers) std::this_thread::yield();

    const std::clock_t processor_begin = std::clock();
    const std::int64_t begin_ns = now_ns();
    std::size_t first = 0;
    std::size_t at = 0;
    for (std::size_t number = 0; number != tokens; ++number) {
        multicast.send(tape[at], Group{first, group_size});
        if (++at == tape.size()) at = 0;
        first += group_size;
        if (first >= workers) first -= workers;
    }
    multicast.close();
    threads.clear();
    const auto ns = static_cast<double>(now_ns() - begin_ns);
    const auto processor_ns =
        static_cast<double>(std::clock() - processor_begin) * (1e9 / CLOCKS_PER_SEC);

    OfWorker all;
    for (const OfWorker& one : of_workers) {
        add(all.sums, one.sums);
        all.count += one.count;
    }
    if (all.sums != sums_of(tape, tokens, group_size) || all.count != tokens * group_size) {
        throw std::runtime_error("wrong answer: tokens were lost or came twice");
    }
    const auto deliveries = static_cast<double>(tokens * group_size);
    return {ns / deliveries, processor_ns / deliveries};
}

struct Variant {
    std::string name;
    Cost (*deliver)(const Settings&, std::size_t group_size);
    bool is_dynamic_of_paper;
    std::size_t limit;  // the variant that is its static baseline, by index
};

const std::vector<Variant> variants{
    {"static wrapper", deliver<ByWrapper<Token, memory::StaticArena>>, false, 0},
    {"copy", deliver<ByCopy<Token>>, true, 0},
    {"wrapper standard", deliver<ByWrapper<Token, memory::StandardMemory>>, true, 0},
    {"wrapper slab", deliver<ByWrapper<Token, memory::SlabAllocator>>, true, 0},
    {"shared_ptr", deliver<BySharedPointer<Token>>, true, 0},
    {"shared_ptr static", deliver<ByStaticSharedPointer<Token>>, false, 0},
    {"static block", deliver<ByStaticBlock<Token>>, false, 6},
    {"block", deliver<ByBlock<Token>>, false, 6},
};

/// The result of blocks from a pool, the last variant, with groups of one size.
struct OfBlocks {
    std::size_t group_size;
    double to_fastest;
    double to_limit;
};

/// A row for each variant: rounds alternate between them, and ratios are those of a round.
OfBlocks compare(const Settings& settings, std::size_t group_size) {
    OfBlocks of_blocks{group_size, 0, 0};
    std::vector<std::vector<Cost>> costs(variants.size());
    for (std::size_t round = 0; round != settings.rounds; ++round) {
        for (std::size_t i = 0; i != variants.size(); ++i) {
            costs[i].push_back(variants[i].deliver(settings, group_size));
        }
    }
    const auto fastest = [&](std::size_t round, double Cost::*what) {
        double least = std::numeric_limits<double>::max();
        for (std::size_t i = 0; i != variants.size(); ++i) {
            if (variants[i].is_dynamic_of_paper) least = std::min(least, costs[i][round].*what);
        }
        return least;
    };
    for (std::size_t i = 0; i != variants.size(); ++i) {
        std::vector<double> ns, processor_ns, to_fastest, to_limit, processor_to_fastest;
        for (std::size_t round = 0; round != settings.rounds; ++round) {
            const Cost& cost = costs[i][round];
            ns.push_back(cost.ns);
            processor_ns.push_back(cost.processor_ns);
            to_fastest.push_back(fastest(round, &Cost::ns) / cost.ns);
            processor_to_fastest.push_back(fastest(round, &Cost::processor_ns) / cost.processor_ns);
            to_limit.push_back(cost.ns / costs[variants[i].limit][round].ns);
        }
        std::printf("%zu,%s,%.2f", group_size, variants[i].name.c_str(),
                    *std::min_element(ns.begin(), ns.end()));
        for (const auto* values :
             {&ns, &processor_ns, &to_fastest, &processor_to_fastest, &to_limit}) {
            const Spread spread = spread_of(*values);
            std::printf(",%.3f,%.3f,%.3f", spread.median, spread.low, spread.high);
        }
        std::printf("\n");
        of_blocks.to_fastest = spread_of(to_fastest).median;
        of_blocks.to_limit = spread_of(to_limit).median;
    }
    std::fflush(stdout);
    return of_blocks;
}

void print_bars(const std::vector<OfBlocks>& all) {
    const auto slowest = std::ranges::min_element(all, {}, &OfBlocks::to_fastest);
    const auto dearest = std::ranges::max_element(all, {}, &OfBlocks::to_limit);
    if (slowest == all.end()) return;
    print_bar(
        "multicast by blocks / the fastest of the paper's variants, the least of all groups (" +
            std::to_string(slowest->group_size) + ")",
        slowest->to_fastest, Bar::at_least, 3);
    print_bar("multicast by blocks, time / that of static ones, the most of all groups (" +
                  std::to_string(dearest->group_size) + ")",
              dearest->to_limit, Bar::at_most, 1.05);
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CommandLine{{{"--workers", number_into(settings.workers)},
                 {"--groups", numbers_into(settings.groups)},
                 {"--deliveries", number_into(settings.deliveries)},
                 {"--rounds", number_into(settings.rounds)},
                 {"--in-flight", number_into(settings.in_flight)}}}
        .read(argc, argv);
    std::printf("group,variant,ns_best");
    for (const char* const name :
         {"ns", "processor_ns", "to_fastest", "processor_to_fastest", "to_limit"}) {
        std::printf(",%s,%s_low,%s_high", name, name, name);
    }
    std::printf("\n");
    std::vector<OfBlocks> of_blocks;
    for (const std::size_t group : settings.groups) {
        if (group == 0 || group > settings.workers) {
            throw std::invalid_argument("a group has from 1 to as many workers as there are");
        }
        of_blocks.push_back(compare(settings, group));
    }
    print_bars(of_blocks);
} catch (const std::exception& error) {
    std::fprintf(stderr, "multicast_bench: %s\n", error.what());
    return 1;
}
