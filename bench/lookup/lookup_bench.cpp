// SPDX-License-Identifier: Apache-2.0
//
// A stream that is enriched from a table of ranges, as addresses by their networks: the lookup
// operator, beside a map that searches a sorted vector by std::upper_bound. Two places: fused with
// the source, where each record is looked up when it comes, and first of a node behind a boundary,
// where 64 are looked up at once. Every contestant's sums are compared.
//
//   lookup_bench --ranges 1000000 --records 4000000 --rounds 5 --workers 1
//
// Rows for programs: "row | lookup | RANGES | contestant | ns a record | low | high |".
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/strid.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Settings {
    std::size_t ranges = 1'000'000;
    std::size_t records = 4'000'000;
    std::size_t rounds = 5;
    std::size_t workers = 1;
};

struct Packet {
    std::uint64_t address;
    std::uint64_t network;
};
using Ranges = RangeTable<std::uint64_t, std::uint64_t>;

/// Networks of random length, in order, with gaps between some.
std::vector<Ranges::Entry> make_ranges(std::size_t count) {
    std::mt19937_64 random{1};
    std::vector<Ranges::Entry> ranges;
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t last = next + random() % 4'096;
        ranges.push_back({next, last, i});
        next = last + 1 + (random() % 4 == 0 ? random() % 1'024 : 0);
    }
    return ranges;
}

/// Addresses at random, of some cycles each.
struct Packets {
    using record_type = Packet;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t end = 0;
    std::uint64_t left = 0;
    std::uint64_t state = 1;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && left != 0; --budget, --left) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const auto wide = static_cast<unsigned __int128>(state) * end;
            if (!emit(Packet{static_cast<std::uint64_t>(wide >> 64U), 0})) {
                --left;
                return SourceStatus::more;
            }
        }
        return left == 0 ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(end, left, state); }
};

struct Sum {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    std::uint64_t* result;
    std::uint64_t so_far = 0;

    void operator()(const Packet& packet) noexcept { so_far += packet.network; }
    void on(Closed) noexcept { *result = so_far; }
    auto state() { return std::tie(so_far); }
};

constexpr auto set_network = [](Packet& packet, const std::uint64_t* network) {
    packet.network = network == nullptr ? 0 : *network + 1;
};

/// The map of those that have no lookup.
struct Search {
    std::shared_ptr<const std::vector<Ranges::Entry>> ranges;

    void operator()(Packet& packet) const {
        const auto behind = std::upper_bound(ranges->begin(), ranges->end(), packet.address,
                                             [](std::uint64_t address, const Ranges::Entry& range) {
                                                 return address < range.first;
                                             });
        if (behind == ranges->begin()) return;
        const Ranges::Entry& range = *std::prev(behind);
        packet.network = packet.address <= range.last ? range.value + 1 : 0;
    }
};

struct Contestant {
    std::string name;
    std::function<std::uint64_t()> run;
    std::vector<double> ns = {};
};

int run(const Settings& settings) {
    const auto ranges =
        std::make_shared<const std::vector<Ranges::Entry>>(make_ranges(settings.ranges));
    const CurrentTable<Ranges> table{Ranges{*ranges}};
    const Packets packets{.end = ranges->back().last + 1, .left = settings.records};
    RunOptions options;
    options.workers = settings.workers;
    const auto on_graph = [&](auto build) {
        return [&, build] {
            std::uint64_t sum = 0;
            Graph graph{"lookup"};
            build(graph.source(packets, {.parallelism = 1})).sink(Sum{&sum}, {.parallelism = 1});
            (void)strid::run(graph, options);
            return sum;
        };
    };
    const OperatorOptions one{.parallelism = 1};
    std::vector<Contestant> all;
    all.push_back({"map over a sorted vector", on_graph([&](auto stream) {
                       return std::move(stream).map(Search{ranges}, one);
                   })});
    all.push_back({"lookup", on_graph([&](auto stream) {
                       return std::move(stream).lookup(table, field<&Packet::address>, set_network,
                                                       one);
                   })});
    all.push_back({"map over a sorted vector, behind a boundary", on_graph([&](auto stream) {
                       return std::move(stream).separate().map(Search{ranges}, one);
                   })});
    all.push_back({"lookup, behind a boundary", on_graph([&](auto stream) {
                       return std::move(stream).separate().lookup(table, field<&Packet::address>,
                                                                  set_network, one);
                   })});

    const std::uint64_t expected = all.front().run();
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        for (Contestant& contestant : all) {
            const std::int64_t begin_ns = now_ns();
            const std::uint64_t sum = contestant.run();
            const std::int64_t end_ns = now_ns();
            if (sum != expected) {
                std::fprintf(stderr, "%s found other ranges\n", contestant.name.c_str());
                return EXIT_FAILURE;
            }
            contestant.ns.push_back(static_cast<double>(end_ns - begin_ns) /
                                    static_cast<double>(settings.records));
        }
    }
    std::printf("| %zu ranges, %zu workers | ns a record | middle half |\n|---|---:|---:|\n",
                settings.ranges, settings.workers);
    for (const Contestant& contestant : all) {
        const Spread spread = spread_of(contestant.ns);
        std::printf("| %s | %.1f | %.1f to %.1f |\n", contestant.name.c_str(), spread.median,
                    spread.low, spread.high);
    }
    for (const Contestant& contestant : all) {
        const Spread spread = spread_of(contestant.ns);
        std::printf("row | lookup | %zu | %s | %.2f | %.2f | %.2f |\n", settings.ranges,
                    contestant.name.c_str(), spread.median, spread.low, spread.high);
    }
    const std::string of = "lookup in a stream, " + std::to_string(settings.ranges) + " ranges";
    print_bar(of + ": times as fast as a sorted vector in a map",
              median(ratios(all[0].ns, all[1].ns)), Bar::at_least, 1.5);
    print_bar(of + ", behind a boundary: times as fast as a sorted vector in a map there",
              median(ratios(all[2].ns, all[3].ns)), Bar::at_least, 1.5);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Settings settings;
        CommandLine{{{"--ranges", number_into(settings.ranges)},
                     {"--records", number_into(settings.records)},
                     {"--rounds", number_into(settings.rounds)},
                     {"--workers", number_into(settings.workers)}}}
            .read(argc, argv);
        if (settings.ranges == 0 || settings.records == 0 || settings.rounds == 0) {
            throw std::invalid_argument("--ranges, --records and --rounds are at least 1");
        }
        return run(settings);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "lookup_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
