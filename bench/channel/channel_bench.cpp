// SPDX-License-Identifier: Apache-2.0
//
// One producer and one consumer on two cores: nanoseconds per pointer at full speed, one at a time
// and in batches, and the time of a round trip through two such queues that are empty. Strid's
// queues run beside those of other libraries, with a core-to-core ping-pong in the same rounds.
//
//   channel_bench [--rounds N] [--count N] [--cores P,C]     (cores -1,-1: do not pin)
//
// A round runs every contestant once, so that a disturbance meets all alike. The table gives each
// one's median over the rounds with its quartiles; the ratios are medians of the ratios of each
// round, against the peer with the lowest median. Every run checks the sum of what arrived.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../bar.hpp"
#include "contest.hpp"
#include "queues.hpp"

namespace {

using namespace strid::bench;

struct Settings {
    std::uint64_t rounds = 31;
    std::uint64_t count = 1'000'000;
    Cores cores;
};

template <class Queue>
void add(std::vector<Contestant>& all, const Settings& settings, bool is_peer) {
    const std::uint64_t trips = std::max<std::uint64_t>(settings.count / 100, 1);
    all.push_back(
        {Queue::name, 1, is_peer,
         [settings] {
             const auto queue = std::make_unique<Queue>();
             return transfer_ns(settings.cores, *queue, settings.count);
         },
         [settings, trips] { return round_trips<OneAtATime<Queue>>(settings.cores, trips, 1); }});
    if constexpr (requires(Queue queue, std::uint64_t sum) { queue.take_batch(1, sum); }) {
        for (const std::size_t batch : {16U, 64U, 256U}) {
            all.push_back({Queue::name, batch, is_peer,
                           [settings, batch] {
                               const auto queue = std::make_unique<Queue>();
                               return transfer_batches_ns(settings.cores, *queue, settings.count,
                                                          batch);
                           },
                           [settings, trips, batch] {
                               return round_trips<Queue>(settings.cores, trips, batch);
                           }});
        }
    }
}

std::vector<Contestant> contestants(const Settings& settings) {
    std::vector<Contestant> all;
    add<StridRing>(all, settings, false);
    add<StridUnbounded>(all, settings, false);
    add<StridFlagged>(all, settings, false);
    add<BoostSpsc>(all, settings, true);
#if defined(STRID_BENCH_READERWRITERQUEUE)
    add<MoodycamelUnbounded>(all, settings, true);
    add<MoodycamelTry>(all, settings, true);
    add<MoodycamelCircular>(all, settings, true);
#endif
#if defined(STRID_BENCH_CONCURRENTQUEUE)
    add<MoodycamelConcurrent>(all, settings, true);
#endif
#if defined(STRID_BENCH_ATOMIC_QUEUE)
    add<AtomicQueueSpsc>(all, settings, true);
#endif
    all.push_back({"core to core, a round trip", 1, false,
                   [settings] { return ping_pong_ns(settings.cores, settings.count / 20); }});
    return all;
}

/// The fastest peer among those of which `eligible` holds.
template <class Eligible>
const Contestant* best_peer(const std::vector<Contestant>& all, Eligible eligible) {
    const Contestant* best = nullptr;
    for (const Contestant& peer : all) {
        if (!peer.is_peer || !eligible(peer)) continue;
        if (best == nullptr || quantile(peer.samples_ns, 0.5) < quantile(best->samples_ns, 0.5)) {
            best = &peer;
        }
    }
    return best;
}

void print_ratio(const Contestant& ours, const Contestant& peer) {
    const std::vector<double> all = ratios(ours, peer);
    fmt::print("| {:<22} | {:>5} | {:<28} | {:>5} | {:>6.2f} | {:>6.2f} to {:<6.2f} |\n", ours.name,
               ours.batch, peer.name, peer.batch, quantile(all, 0.5), quantile(all, 0.25),
               quantile(all, 0.75));
}

/// The ring, one at a time and in batches, against the peer that is fastest one at a time.
void print_bars(const std::vector<Contestant>& all) {
    const auto* const peer = best_peer(all, [](const auto& p) { return p.batch == 1; });
    if (peer == nullptr) return;
    for (const Contestant& ours : all) {
        if (ours.name != StridRing::name) continue;
        print_bar(fmt::format(
                      "{}, {} / the best peer one at a time ({})", ours.name,
                      ours.batch == 1 ? "one at a time" : fmt::format("batches of {}", ours.batch),
                      peer->name),
                  quantile(ratios(ours, *peer), 0.5), Bar::at_least, ours.batch == 1 ? 1 : 3);
    }
}

void report(const std::vector<Contestant>& all) {
    print_table(all, "round trip");
    fmt::print("\n| {:<22} | batch | {:<28} | batch | times faster | quartiles |\n", "ours",
               "best peer");
    fmt::print("|---|---:|---|---:|---:|---|\n");
    for (const Contestant& ours : all) {
        if (ours.is_peer || ours.name.find("strid") == std::string::npos) continue;
        if (const auto* peer = best_peer(all, [](const auto& p) { return p.batch == 1; })) {
            print_ratio(ours, *peer);
        }
        if (ours.batch == 1) continue;
        if (const auto* peer =
                best_peer(all, [&](const auto& p) { return p.batch == ours.batch; })) {
            print_ratio(ours, *peer);
        }
    }
    std::fputs("\n", stdout);
    print_bars(all);
}

bool parse(int argc, char** argv, Settings& settings) {
    const auto number = [](std::string_view text, auto& out) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
        return error == std::errc{} && end == text.data() + text.size();
    };
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        const std::string_view value = argv[i + 1];
        bool good = false;
        if (option == "--rounds") good = number(value, settings.rounds) && settings.rounds > 0;
        if (option == "--count") good = number(value, settings.count) && settings.count >= 20;
        if (option == "--cores") {
            const auto comma = std::min(value.find(','), value.size() - 1);
            good = number(value.substr(0, comma), settings.cores.producer) &&
                   number(value.substr(comma + 1), settings.cores.consumer);
        }
        if (!good) return false;
    }
    return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    if (!parse(argc, argv, settings)) {
        fmt::print(stderr, "usage: {} [--rounds N] [--count N] [--cores P,C]\n", argv[0]);
        return 2;
    }
    auto all = contestants(settings);
    for (std::uint64_t round = 0; round < settings.rounds; ++round) {
        for (Contestant& one : all) one.measure();
    }
    report(all);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
}
