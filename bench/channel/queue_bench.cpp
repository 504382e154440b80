// SPDX-License-Identifier: Apache-2.0
//
// The queues of several producers or consumers (strid/channel/queue.hpp) beside those of other
// libraries: nanoseconds per pointer, one at a time and in batches of 64.
//
//   queue_bench [--rounds N] [--count N] [--shapes P+C,P+C,...] [--quantile Q] [--only TEXT]
//                 (P producers, C consumers; Q 0.5; TEXT a part of the names of ours to measure)
//
// A shape of 1+1 runs on a core each, others wherever the system puts them. A round runs every
// contestant once, so that a disturbance meets all alike. The bars compare ours, which spin as all
// peers do, with the peer that is fastest one at a time, by the medians of all rounds, or by
// another quantile: on a machine that does other work as well, short runs (--count 20000) at 0.1
// are those that nothing disturbed. Every run checks the sum of what arrived.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../bar.hpp"
#include "contest.hpp"
#include "crowd.hpp"
#include "crowd_queues.hpp"

namespace {

using namespace strid::bench;
using namespace strid::channel;

struct Settings {
    std::uint64_t rounds = 15;
    std::uint64_t count = 500'000;  ///< items of a run
    double quantile = 0.5;
    std::string only;  ///< a part of the names of ours that are measured
    std::vector<std::pair<std::size_t, std::size_t>> shapes = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};
};

constexpr std::size_t no_batches = 1;

template <class Queue>
void add(std::vector<Contestant>& all, const Crowd& shape, std::string name, bool is_peer,
         std::size_t batch_max = crowd_batch) {
    for (const std::size_t batch : {std::size_t{1}, crowd_batch}) {
        if (batch > batch_max) continue;
        Crowd crowd = shape;
        crowd.batch = batch;
        all.push_back({name, batch, is_peer, [crowd] { return crowd_ns<Queue>(crowd); }});
    }
}

/// Strid's queues with these sides, by name of the kind.
template <template <class, Bound, Construction> class Kind>
void add_ours(std::vector<Contestant>& all, const Crowd& shape, const std::string& kind) {
    constexpr auto spins = Waiting::spins;
    using Ring = Kind<void*, Bound::bounded, Construction::direct>;
    using Chain = Kind<void*, Bound::unbounded, Construction::direct>;
    using Mediated = Kind<void*, Bound::bounded, Construction::mediated>;
    using Unbounded = Kind<void*, Bound::unbounded, Construction::mediated>;
    add<StridCrowd<Ring, spins>>(all, shape, "strid " + kind, false);
    add<StridCrowd<Ring, Waiting::parks>>(all, shape, "strid " + kind + ", parks", false);
    add<StridCrowd<Chain, spins>>(all, shape, "strid " + kind + ", unbounded", false);
    add<StridCrowd<Mediated, spins>>(all, shape, "strid " + kind + ", mediated", false);
    add<StridCrowd<Unbounded, spins>>(all, shape, "strid " + kind + ", med. unbounded", false);
}

std::vector<Contestant> contestants(const Crowd& shape, const std::string& only) {
    std::vector<Contestant> all;
    if (shape.producers == 1) add_ours<SpmcQueue>(all, shape, "SpmcQueue");
    if (shape.consumers == 1) add_ours<MpscQueue>(all, shape, "MpscQueue");
    add_ours<MpmcQueue>(all, shape, "MpmcQueue");
    add<BoostCrowd>(all, shape, "boost::lockfree queue", true, no_batches);
#if defined(STRID_BENCH_CONCURRENTQUEUE)
    add<MoodycamelCrowd<moodycamel::ConcurrentQueue<void*>>>(all, shape, "moodycamel, tokens",
                                                             true);
    add<MoodycamelCrowd<moodycamel::BlockingConcurrentQueue<void*>>>(
        all, shape, "moodycamel blocking, tokens", true);
#endif
#if defined(STRID_BENCH_ATOMIC_QUEUE)
    add<AtomicQueueCrowd>(all, shape, "atomic_queue", true, no_batches);
#endif
#if defined(STRID_BENCH_FASTFLOW)
    add<FastFlowCrowd<ff::MPMC_Ptr_Queue>>(all, shape, "FastFlow MPMC_Ptr_Queue", true, no_batches);
    add<FastFlowCrowd<ff::uMPMC_Ptr_Queue>>(all, shape, "FastFlow uMPMC_Ptr_Queue", true,
                                            no_batches);
#endif
    std::erase_if(all, [&](const Contestant& one) {
        return !one.is_peer && one.name.find(only) == std::string::npos;
    });
    return all;
}

/// The fastest peer with that batch, or null.
const Contestant* best_peer(const std::vector<Contestant>& all, std::size_t batch, double q) {
    const Contestant* best = nullptr;
    for (const Contestant& peer : all) {
        if (!peer.is_peer || peer.batch != batch) continue;
        if (best == nullptr || quantile(peer.samples_ns, q) < quantile(best->samples_ns, q)) {
            best = &peer;
        }
    }
    return best;
}

/// Ours against the best peer one at a time, and in batches also against the best one in batches.
void print_bars(const std::vector<Contestant>& all, const std::string& shape, double q) {
    const auto* const single = best_peer(all, 1, q);
    const auto* const batched = best_peer(all, crowd_batch, q);
    const auto times = [q](const Contestant& ours, const Contestant& peer) {
        return quantile(peer.samples_ns, q) / quantile(ours.samples_ns, q);
    };
    for (const Contestant& ours : all) {
        if (ours.is_peer) continue;
        const bool is_single = ours.batch == 1;
        const std::string name =
            fmt::format("{}, {}, {}", ours.name, shape,
                        is_single ? "one at a time" : fmt::format("batches of {}", ours.batch));
        const double rate = times(ours, *single);
        const std::string text = name + " / " + single->name + " one at a time";
        if (ours.name.find(',') == std::string::npos) {
            print_bar(text, rate, Bar::at_least, is_single ? 1 : 2);
        } else {
            print_reported(text, rate, "times");
        }
        if (is_single || batched == nullptr) continue;
        print_reported(name + " / " + batched->name + " in batches", times(ours, *batched),
                       "times");
    }
}

void run(const Settings& settings, std::size_t producers, std::size_t consumers) {
    Crowd shape{.producers = producers, .consumers = consumers};
    shape.count = std::max<std::uint64_t>(settings.count / producers, 1);
    shape.pins = producers == 1 && consumers == 1;
    auto all = contestants(shape, settings.only);
    for (std::uint64_t round = 0; round < settings.rounds; ++round) {
        for (Contestant& one : all) one.measure();
    }
    const std::string name = fmt::format("{} to {}", producers, consumers);
    fmt::print("\n{} producers, {} consumers\n\n", producers, consumers);
    fmt::print("| {:<32} | batch | ns, quantile {:.2g} | median |\n", "queue", settings.quantile);
    fmt::print("|---|---:|---:|---:|\n");
    for (const Contestant& one : all) {
        fmt::print("| {:<32} | {:>5} | {:>11.2f} | {:>6.2f} |\n", one.name, one.batch,
                   quantile(one.samples_ns, settings.quantile), quantile(one.samples_ns, 0.5));
    }
    fmt::print("\n");
    print_bars(all, name, settings.quantile);
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size() && out > 0;
}

bool parse_shapes(std::string_view text, Settings& settings) {
    settings.shapes.clear();
    while (!text.empty()) {
        const std::string_view shape = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), shape.size() + 1));
        const auto plus = std::min(shape.find('+'), shape.size() - 1);
        auto& [producers, consumers] = settings.shapes.emplace_back();
        if (!parse_number(shape.substr(0, plus), producers) ||
            !parse_number(shape.substr(plus + 1), consumers)) {
            return false;
        }
    }
    return !settings.shapes.empty();
}

bool parse(int argc, char** argv, Settings& settings) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        const std::string_view value = argv[i + 1];
        if (option == "--only") settings.only = value;
        const bool good = option == "--only"     ? true
                          : option == "--rounds" ? parse_number(value, settings.rounds)
                          : option == "--count"  ? parse_number(value, settings.count)
                          : option == "--shapes" ? parse_shapes(value, settings)
                          : option == "--quantile"
                              ? parse_number(value, settings.quantile) && settings.quantile < 1
                              : false;
        if (!good) return false;
    }
    return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    if (!parse(argc, argv, settings)) {
        fmt::print(stderr,
                   "usage: {} [--rounds N] [--count N] [--shapes P+C,...] [--quantile Q]"
                   " [--only TEXT]\n",
                   argv[0]);
        return 2;
    }
    for (const auto& [producers, consumers] : settings.shapes) run(settings, producers, consumers);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
}
