// SPDX-License-Identifier: Apache-2.0
//
// Keyed windows in a running graph on one worker, beside what a person would write for one thread.
// Rounds alternate between the contestants; the table gives medians and the median of the
// round-by-round ratios; every answer is compared.
//
//   keyed_bench [RECORDS [ROUNDS]]     default 10,000,000 records, 7 rounds
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/graph/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "quotes.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

bool all_right = true;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Measured {
    double ns_per_record = 0;
    WindowChecksum checksum = {};
};

template <class Body>
Measured timed(std::uint64_t records, Body&& body) {
    Measured measured;
    const std::int64_t begin_ns = now_ns();
    body(measured.checksum);
    measured.ns_per_record =
        static_cast<double>(now_ns() - begin_ns) / static_cast<double>(records);
    return measured;
}

struct ChecksumSink {
    WindowChecksum* result;  // of the caller, who reads it after the run
    WindowChecksum checksum{};

    template <class Result>
    void operator()(const Result& result_row) noexcept {
        if constexpr (requires { result_row.window.start.ns(); }) {
            checksum.add(result_row.key, static_cast<std::uint64_t>(result_row.window.start.ns()),
                         result_row.value);
        } else {
            checksum.add(result_row.key, result_row.window.start, result_row.value);
        }
    }
    void close() noexcept { *result = checksum; }
};

RunOptions one_worker() {
    RunOptions options;
    options.workers = 1;
    options.parallelism = 1;
    return options;
}

// ---- windows of a number of records
// --------------------------------------------------------------

constexpr std::uint64_t count_length = 1'000;
constexpr std::uint64_t count_slide = 25;

Measured count_windows(std::uint64_t records) {
    return timed(records, [records](WindowChecksum& checksum) {
        Graph graph{"count windows"};
        graph.source(QuoteSource{records, QuoteGenerator{{}}})
            .key_by<&Quote::symbol>()
            .window(window::CountWindows::sliding(count_length, count_slide),
                    window::sum<Quote>(&Quote::bid_volume), {.at_end = OpenWindows::drop})
            .sink(ChecksumSink{&checksum});
        run(graph, one_worker());
    });
}

/// The best algorithm for a sum: a running total, and a ring of the sums of panes.
Measured count_windows_by_hand(std::uint64_t records) {
    return timed(records, [records](WindowChecksum& checksum) {
        constexpr std::size_t panes = count_length / count_slide;
        struct State {
            std::int64_t total = 0;
            std::int64_t pane = 0;
            std::int64_t ring[panes] = {};
            std::uint64_t count = 0;
        };
        boost::unordered_flat_map<std::uint64_t, State> states;
        QuoteGenerator generator{{}};
        for (std::uint64_t i = 0; i < records; ++i) {
            Quote quote;
            generator.fill(quote);
            State& state = states[quote.symbol];
            state.pane += quote.bid_volume;
            if (++state.count % count_slide != 0) continue;
            const std::uint64_t number = state.count / count_slide - 1;
            std::int64_t& oldest = state.ring[number % panes];
            state.total += state.pane - std::exchange(oldest, state.pane);
            state.pane = 0;
            if (state.count < count_length) continue;
            checksum.add(quote.symbol, state.count - count_length, state.total);
        }
    });
}

// ---- windows of time
// -----------------------------------------------------------------------------

struct TimeCase {
    Duration length;
    Duration slide;
    std::uint32_t symbols = 100;
    std::uint32_t disorder = 0;
};

template <class A>
Measured time_windows(std::uint64_t records, const TimeCase& one, A aggregate) {
    return timed(records, [&](WindowChecksum& checksum) {
        Graph graph{"time windows"};
        const QuoteShape shape{.symbols = one.symbols, .disorder = one.disorder};
        graph.source(QuoteSource{records, QuoteGenerator{shape}})
            .event_time(&Quote::time, BoundedDisorder{Duration{one.disorder * shape.step_ns}})
            .template key_by<&Quote::symbol>()
            .window(window::TimeWindows::sliding(one.length, one.slide), &Quote::time, aggregate)
            .sink(ChecksumSink{&checksum});
        run(graph, one_worker());
    });
}

/// Every record into every window that it lies in, each an entry of a table.
template <class Combine>
Measured naive_time_windows(std::uint64_t records, const TimeCase& one, Combine combine) {
    return timed(records, [&](WindowChecksum& checksum) {
        struct Hash {
            std::size_t operator()(const std::pair<std::uint64_t, std::int64_t>& key) const {
                return hash_of(key);
            }
        };
        boost::unordered_flat_map<std::pair<std::uint64_t, std::int64_t>, std::int64_t, Hash> open;
        const std::int64_t length = one.length.count();
        const std::int64_t slide = one.slide.count();
        QuoteGenerator generator{{.symbols = one.symbols, .disorder = one.disorder}};
        for (std::uint64_t i = 0; i < records; ++i) {
            Quote quote;
            generator.fill(quote);
            const std::int64_t time = quote.time.ns();
            const std::int64_t last = (time >= 0 ? time : time - slide + 1) / slide * slide;
            for (std::int64_t start = last; start > time - length; start -= slide) {
                const auto [entry, is_new] = open.try_emplace({quote.symbol, start}, quote.bid);
                if (!is_new) entry->second = combine(entry->second, quote.bid);
            }
        }
        for (const auto& [where, value] : open) {
            checksum.add(where.first, static_cast<std::uint64_t>(where.second), value);
        }
    });
}

struct Overlap {
    Duration duration;
    const char* name;
};

// ---- the table
// -----------------------------------------------------------------------------------

struct Contestant {
    std::string name;
    std::function<Measured()> measure;
    std::vector<double> ns = {};
};

/// Runs the contestants in turn and prints a row for each, with how many times faster it is than
/// the first. Those of the same `answer` must agree.
void compare(const char* title, std::vector<Contestant> contestants, int rounds,
             bool same_answer = true) {
    for (int round = 0; round < rounds; ++round) {
        WindowChecksum first;
        for (Contestant& one : contestants) {
            const Measured measured = one.measure();
            one.ns.push_back(measured.ns_per_record);
            if (&one == &contestants.front()) {
                first = measured.checksum;
            } else if (same_answer && measured.checksum != first) {
                std::printf("WRONG ANSWER: %s, %s\n", title, one.name.c_str());
                all_right = false;
            }
            if (measured.checksum.windows == 0) all_right = false;
        }
    }
    std::printf("\n%s\n", title);
    for (const Contestant& one : contestants) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < one.ns.size(); ++i) {
            ratios.push_back(contestants.front().ns[i] / one.ns[i]);
        }
        const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
        std::printf("| %-32s | %8.1f ns | %7.1f M/s | %6.2f (%.2f to %.2f) |\n", one.name.c_str(),
                    median(one.ns), 1e3 / median(one.ns), median(ratios), *low, *high);
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    using namespace std::chrono_literals;
    const auto sum = window::sum<Quote>(&Quote::bid);
    const auto largest = window::maximum<Quote>(&Quote::bid);

    compare("windows of 1,000 records by 25, 2,836 keys, a sum",
            {{"by hand", [&] { return count_windows_by_hand(records); }},
             {"strid, one worker", [&] { return count_windows(records); }}},
            rounds);

    // 10 ms of 1 us apart: 10,000 records, 100 of each key. A window fires for each slide and key.
    for (const auto& [slide, name] : {Overlap{10ms, "1 window over each record"},
                                      Overlap{1ms, "10 windows"}, Overlap{100us, "100 windows"}}) {
        const TimeCase one{.length = 10ms, .slide = slide, .symbols = 10};
        std::vector<Contestant> contestants{
            {"every window by itself",
             [&] {
                 return naive_time_windows(records / 10, one,
                                           [](std::int64_t a, std::int64_t b) { return a + b; });
             }},
            {"strid, sum", [&] { return time_windows(records / 10, one, sum); }}};
        compare(name, contestants, rounds);
    }
    std::vector<Contestant> flat;
    for (const auto& [length, name] :
         {Overlap{1ms, "1"}, Overlap{10ms, "10"}, Overlap{100ms, "100"}, Overlap{1'000ms, "1,000"},
          Overlap{10'000ms, "10,000"}}) {
        const TimeCase one{.length = length, .slide = 1ms, .symbols = 10};
        flat.push_back({std::string("sum, ") + name + " windows over each record",
                        [&, one] { return time_windows(records, one, sum); }});
    }
    compare("one window of each of 10 keys a ms, over more and more time", flat, rounds, false);
    flat.clear();
    for (const auto& [length, name] :
         {Overlap{1ms, "1"}, Overlap{10ms, "10"}, Overlap{100ms, "100"}, Overlap{1'000ms, "1,000"},
          Overlap{10'000ms, "10,000"}}) {
        const TimeCase one{.length = length, .slide = 1ms, .symbols = 10};
        flat.push_back({std::string("max, ") + name + " windows over each record",
                        [&, one] { return time_windows(records, one, largest); }});
    }
    compare("the same, a maximum", flat, rounds, false);

    const TimeCase in_order{.length = 10ms, .slide = 1ms};
    const TimeCase disordered{.length = 10ms, .slide = 1ms, .disorder = 1'000};
    compare("disorder of 1,000 positions, 100 keys, 10 windows over each record",
            {{"in order", [&] { return time_windows(records, in_order, sum); }},
             {"in disorder", [&] { return time_windows(records, disordered, sum); }}},
            rounds, false);
    return all_right ? 0 : 1;
}
