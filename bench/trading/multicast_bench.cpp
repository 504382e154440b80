// SPDX-License-Identifier: Apache-2.0
//
// Figure 5a of paper 1: a generator multicasts tokens of 64 bytes to groups of workers, by the ways
// in which a token's memory is managed. The work is light: each worker of the group reads the token
// and adds it to a sum. Prints nanoseconds per token delivered, and ratios, as CSV:
//
//     group,variant,ns,ns_low,ns_high,to_fastest,to_fastest_low,to_fastest_high,to_limit,...
//
// `to_fastest`: the time of the fastest of the paper's own dynamic variants in the same round,
// divided by the variant's: how many times faster it is. `to_limit`: the variant's time divided by
// that of its static baseline (preallocated messages; preallocated blocks).
//
//   multicast_bench [--workers N] [--groups 1,2,...] [--deliveries N] [--rounds N] [--in-flight N]
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <strid/base/clock.hpp>

#include "block_carriers.hpp"
#include "command_line.hpp"
#include "multicast.hpp"
#include "statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Token {
    std::array<std::uint64_t, 8> words;
};
static_assert(sizeof(Token) == 64);

struct Settings {
    std::size_t workers = 24;
    std::vector<std::size_t> groups = {1, 2, 4, 8, 12, 16, 24};
    std::size_t deliveries = 2'000'000;
    std::size_t rounds = 7;
    std::size_t in_flight = 2048;
};

std::uint64_t sum_of(const Token& token) noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : token.words) sum += word;
    return sum;
}

/// Nanoseconds per token delivered of one run. Throws where a token was lost or came twice.
template <class Carrier>
double deliver(const Settings& settings, std::size_t group_size) {
    const std::size_t workers = settings.workers;
    const std::size_t tokens = std::max<std::size_t>(settings.deliveries / group_size, 1);
    Multicast<Carrier> multicast({workers, settings.in_flight, tokens});
    std::atomic<std::size_t> ready{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> delivered{0};
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker != workers; ++worker) {
        threads.emplace_back([&, worker] {
            ready.fetch_add(1);
            std::uint64_t own_sum = 0;
            std::uint64_t own_count = 0;
            multicast.receive_all(worker, [&](const Token& token) {
                own_sum += sum_of(token);
                ++own_count;
            });
            sum.fetch_add(own_sum);
            delivered.fetch_add(own_count);
        });
    }
    while (ready.load() != workers) std::this_thread::yield();

    const std::int64_t begin_ns = now_ns();
    std::size_t first = 0;
    std::uint64_t expected = 0;
    for (std::uint64_t number = 0; number != tokens; ++number) {
        const Token token{{number, 1, 2, 3, 4, 5, 6, 7}};
        expected += sum_of(token);
        multicast.send(token, Group{first, group_size});
        first += group_size;
        if (first >= workers) first -= workers;
    }
    multicast.close();
    threads.clear();
    const std::int64_t end_ns = now_ns();

    if (sum.load() != expected * group_size || delivered.load() != tokens * group_size) {
        throw std::runtime_error("wrong answer: tokens were lost or came twice");
    }
    return static_cast<double>(end_ns - begin_ns) / static_cast<double>(tokens * group_size);
}

struct Variant {
    std::string name;
    double (*deliver)(const Settings&, std::size_t group_size);
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

/// Rows of one size of the group: rounds alternate between the variants.
void compare(const Settings& settings, std::size_t group_size) {
    std::vector<std::vector<double>> ns(variants.size());
    std::vector<std::vector<double>> to_fastest(variants.size());
    std::vector<std::vector<double>> to_limit(variants.size());
    for (std::size_t round = 0; round != settings.rounds; ++round) {
        double fastest = 0;
        for (std::size_t i = 0; i != variants.size(); ++i) {
            const double now = variants[i].deliver(settings, group_size);
            ns[i].push_back(now);
            if (variants[i].is_dynamic_of_paper && (fastest == 0 || now < fastest)) fastest = now;
        }
        for (std::size_t i = 0; i != variants.size(); ++i) {
            to_fastest[i].push_back(fastest / ns[i].back());
            to_limit[i].push_back(ns[i].back() / ns[variants[i].limit].back());
        }
    }
    for (std::size_t i = 0; i != variants.size(); ++i) {
        const Spread time = spread_of(ns[i]);
        const Spread faster = spread_of(to_fastest[i]);
        const Spread limit = spread_of(to_limit[i]);
        std::printf("%zu,%s,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", group_size,
                    variants[i].name.c_str(), time.median, time.low, time.high, faster.median,
                    faster.low, faster.high, limit.median, limit.low, limit.high);
    }
    std::fflush(stdout);
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
    std::printf("group,variant,ns,ns_low,ns_high,to_fastest,to_fastest_low,to_fastest_high,"
                "to_limit,to_limit_low,to_limit_high\n");
    for (const std::size_t group : settings.groups) {
        if (group == 0 || group > settings.workers) {
            throw std::invalid_argument("a group has from 1 to as many workers as there are");
        }
        compare(settings, group);
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "multicast_bench: %s\n", error.what());
    return 1;
}
