// SPDX-License-Identifier: Apache-2.0
//
// Keyed windows in a running graph, beside what a person would write for one thread: on one worker,
// and windows of a number of records also on two (docs/design/0007). Rounds alternate between the
// contestants; the table gives medians and the median of the round-by-round ratios; every answer is
// compared with a plain computation.
//
//   keyed_bench [RECORDS [ROUNDS]]     default 10,000,000 records, 7 rounds
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "../bar.hpp"
#include "contest.hpp"
#include "quotes.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

RunOptions one_worker() {
    RunOptions options;
    options.workers = 1;
    options.parallelism = 1;
    return options;
}

/// Of the windows; 0: as many as the engine chooses.
RunOptions two_workers(std::size_t replicas) {
    RunOptions options;
    options.workers = 2;
    options.parallelism = replicas;
    return options;
}

// ---- windows of a number of records -------------------------------------------------------------

constexpr std::uint64_t count_length = 1'000;
constexpr std::uint64_t count_slide = 25;

Measured count_windows(std::uint64_t records, const RunOptions& options) {
    return timed(records, [&](WindowChecksum& checksum) {
        Graph graph{"count windows"};
        graph.source(QuoteSource{records, QuoteGenerator{{}}})
            .key_by<&Quote::symbol>()
            .window(window::CountWindows::sliding(count_length, count_slide),
                    window::sum<&Quote::bid_volume>(), {.at_end = OpenWindows::drop})
            .sink(ChecksumSink{&checksum});
        run(graph, options);
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

// ---- windows of time ----------------------------------------------------------------------------

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
            .event_time<&Quote::time>(BoundedDisorder{Duration{one.disorder * shape.step_ns}})
            .template key_by<&Quote::symbol>()
            .window(window::TimeWindows::sliding(one.length, one.slide), aggregate)
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

/// The answer, without an engine and without watermarks: each key's records by slide of time, then
/// each window from the slides that it has. The length is a multiple of the slide.
template <class Combine>
WindowChecksum expected_time_windows(std::uint64_t records, const TimeCase& one, Combine combine) {
    struct Slide {
        std::int64_t value = 0;
        bool present = false;
        void add(std::int64_t other, const Combine& combine) {
            value = std::exchange(present, true) ? combine(value, other) : other;
        }
    };
    const std::int64_t slide_ns = one.slide.count();
    const std::int64_t in_window = one.length / one.slide;
    QuoteGenerator generator{{.symbols = one.symbols, .disorder = one.disorder}};
    std::vector<std::map<std::int64_t, Slide>> keys(one.symbols);  // by number of the slide
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        const std::int64_t ns = quote.time.ns();
        const std::int64_t number = (ns >= 0 ? ns : ns - slide_ns + 1) / slide_ns;
        keys[quote.symbol][number].add(quote.bid, combine);
    }
    WindowChecksum checksum;
    for (std::uint64_t symbol = 0; symbol < one.symbols; ++symbol) {
        std::vector<Slide> windows;
        const auto& slides = keys[symbol];
        if (slides.empty()) continue;
        const std::int64_t first = slides.begin()->first - in_window + 1;
        windows.resize(static_cast<std::size_t>(slides.rbegin()->first - first + 1));
        for (const auto& [number, slide] : slides) {
            for (std::int64_t k = number - in_window + 1; k <= number; ++k) {
                windows[static_cast<std::size_t>(k - first)].add(slide.value, combine);
            }
        }
        for (std::size_t k = 0; k < windows.size(); ++k) {
            if (!windows[k].present) continue;
            const std::int64_t start = (first + static_cast<std::int64_t>(k)) * slide_ns;
            checksum.add(symbol, static_cast<std::uint64_t>(start), windows[k].value);
        }
    }
    return checksum;
}

struct Overlap {
    Duration duration;
    const char* name;
};

constexpr auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
constexpr auto larger = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };

/// The cost of one window per key and ms, as the windows reach over more and more time.
template <class A, class Combine>
void compare_lengths(Contest& contest, const char* title, const char* what, std::uint64_t records,
                     A aggregate, Combine combine) {
    using namespace std::chrono_literals;
    std::vector<Contestant> lengths;
    for (const auto& [length, name] :
         {Overlap{1ms, "1"}, Overlap{10ms, "10"}, Overlap{100ms, "100"}, Overlap{1'000ms, "1,000"},
          Overlap{10'000ms, "10,000"}}) {
        const TimeCase one{.length = length, .slide = 1ms, .symbols = 10};
        lengths.push_back({std::string(what) + ", " + name + " windows over each record",
                           [=] { return time_windows(records, one, aggregate); },
                           expected_time_windows(records, one, combine)});
    }
    const auto measured = contest.compare(title, std::move(lengths));
    std::vector<double> ns;
    for (const Contestant& one : measured) ns.push_back(median(one.ns));
    const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
    print_bar(std::string(what) +
                  " by key, 1 to 10,000 windows over each record, a record's cost, " +
                  "dearest / cheapest",
              *most / *least, Bar::at_most, 2);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    if (records == 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: keyed_bench [RECORDS [ROUNDS]]\n");
        return 2;
    }
    using namespace std::chrono_literals;
    Contest contest{rounds};
    const auto sum = window::sum<&Quote::bid>();
    const auto largest = window::maximum<&Quote::bid>();

    const WindowChecksum counted = count_windows_by_hand(records).checksum;
    const auto counts = contest.compare(
        "windows of 1,000 records by 25, 2,836 keys, a sum",
        {{"by hand", [=] { return count_windows_by_hand(records); }, counted},
         {"strid, one worker", [=] { return count_windows(records, one_worker()); }, counted},
         {"two workers", [=] { return count_windows(records, two_workers(0)); }, counted},
         {"two workers, two replicas", [=] { return count_windows(records, two_workers(2)); },
          counted}});
    print_bar("windows of 1,000 records by 25, 2,836 keys, one worker / by hand",
              times_faster(counts[1], counts[0]), Bar::at_least, 0.7);

    // 10 ms of 1 us apart: 10,000 records, 1,000 of each key.
    for (const auto& [slide, name] : {Overlap{10ms, "1 window over each record"},
                                      Overlap{1ms, "10 windows"}, Overlap{100us, "100 windows"}}) {
        const TimeCase one{.length = 10ms, .slide = slide, .symbols = 10};
        const std::uint64_t some = records / 10;
        const WindowChecksum expected = expected_time_windows(some, one, add);
        contest.compare(
            name, {{"every window by itself", [=] { return naive_time_windows(some, one, add); },
                    expected},
                   {"strid, sum", [=] { return time_windows(some, one, sum); }, expected}});
    }
    compare_lengths(contest, "one window of each of 10 keys a ms, over more and more time", "sum",
                    records, sum, add);
    compare_lengths(contest, "the same, a maximum", "max", records, largest, larger);

    const TimeCase in_order{.length = 10ms, .slide = 1ms};
    const TimeCase disordered{.length = 10ms, .slide = 1ms, .disorder = 1'000};
    const auto orders =
        contest.compare("disorder of 1,000 positions, 100 keys, 10 windows over each record",
                        {{"in order", [=] { return time_windows(records, in_order, sum); },
                          expected_time_windows(records, in_order, add)},
                         {"in disorder", [=] { return time_windows(records, disordered, sum); },
                          expected_time_windows(records, disordered, add)}});
    print_bar("windows of time, records out of order by up to 1,000 positions / in order",
              times_faster(orders[1], orders[0]), Bar::at_least, 0.5);
    return contest.all_right() ? 0 : 1;
}
