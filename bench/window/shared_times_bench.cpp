// SPDX-License-Identifier: Apache-2.0
//
// Windows of time over a stream that is grouped, not partitioned, on two workers: sums of
// floating-point numbers by key, which is the default for them, and shared (docs/design/0006), in
// any order where that has to be requested. Rounds alternate; every answer is compared with sums of
// panes.
//
//   shared_times_bench [RECORDS [ROUNDS]]
//     default 5,000,000 records, 5 rounds
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <strid/connector/discard.hpp>
#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "contest.hpp"
#include "quotes.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

constexpr auto bid = [](const Quote& quote) { return static_cast<double>(quote.bid); };

/// Whole numbers, so that every order gives the same; only the type does not say so.
struct Total : decltype(window::sum<Quote>(bid)) {
    [[nodiscard]] std::int64_t lower(const double& state) const noexcept {
        return static_cast<std::int64_t>(state);
    }
};

enum class Sharing {
    by_key,
    farmed,
    paned,
    map_reduce,
    combined,
    by_key_with_late,
    farmed_with_late
};

struct Case {
    std::uint32_t keys;
    std::int64_t length;  // records of all keys, one each microsecond
    std::int64_t slide;
    const char* title;
};

Measured shared(Sharing sharing, std::uint64_t records, const Case& one) {
    return timed(records, [&](WindowChecksum& checksum) {
        Graph graph{"shared time windows"};
        const auto windows = window::TimeWindows::sliding(std::chrono::microseconds{one.length},
                                                          std::chrono::microseconds{one.slide});
        const auto time_of = [](const Quote& quote) { return quote.time; };
        const ChecksumSink sink{&checksum};
        const WindowOptions dropped{.at_end = OpenWindows::drop};
        const auto any_order = window::any_order(Total{});
        auto grouped = graph.source(QuoteSource{records, QuoteGenerator{{.symbols = one.keys}}})
                           .event_time(time_of, MonotonousTime{})
                           .key_by<&Quote::symbol>();
        const auto sink_both = [&sink](auto streams) {
            std::move(streams.results).sink(sink);
            std::move(streams.late).sink(discard());
        };
        switch (sharing) {
            case Sharing::by_key:
                std::move(grouped).window(windows, Total{}, share::by_key, dropped).sink(sink);
                break;
            case Sharing::farmed:
                std::move(grouped).window(windows, Total{}, share::farmed, dropped).sink(sink);
                break;
            case Sharing::paned:
                std::move(grouped).window(windows, any_order, share::paned, dropped).sink(sink);
                break;
            case Sharing::map_reduce:
                std::move(grouped)
                    .window(windows, any_order, share::map_reduce, dropped)
                    .sink(sink);
                break;
            case Sharing::combined:
                std::move(grouped).window(windows, any_order, share::combined, dropped).sink(sink);
                break;
            case Sharing::by_key_with_late:
                sink_both(std::move(grouped).window(windows, Total{}, share::by_key | late_apart,
                                                    dropped));
                break;
            case Sharing::farmed_with_late:
                sink_both(std::move(grouped).window(windows, Total{}, share::farmed | late_apart,
                                                    dropped));
                break;
        }
        run(graph, {.workers = 2});
    });
}

/// The windows that are over when the last record has come, from the sums of what lies between one
/// begin of a window and the next.
WindowChecksum expected(std::uint64_t records, const Case& one) {
    using Panes = std::map<std::int64_t, std::int64_t>;
    std::vector<Panes> panes_of_keys(one.keys);
    QuoteGenerator generator{{.symbols = one.keys}};
    std::int64_t last = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        last = quote.time.ns() / 1'000;
        panes_of_keys[quote.symbol][last / one.slide] += quote.bid;
    }
    WindowChecksum checksum;
    const std::int64_t panes = one.length / one.slide;
    for (std::uint64_t key = 0; key < one.keys; ++key) {
        std::map<std::int64_t, std::int64_t> windows;
        for (const auto& [pane, sum] : panes_of_keys[key]) {
            for (std::int64_t first = pane - panes + 1; first <= pane; ++first) {
                if (first * one.slide + one.length <= last) windows[first] += sum;
            }
        }
        for (const auto& [first, sum] : windows) {
            checksum.add(key, static_cast<std::uint64_t>(first * one.slide * 1'000), sum);
        }
    }
    return checksum;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    if (records == 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: shared_times_bench [RECORDS [ROUNDS]]\n");
        return 2;
    }
    Contest contest{rounds};
    for (const Case& one :
         {Case{1, 100'000, 10'000, "one key, windows of 100,000 records by 10,000"},
          Case{100, 100'000, 2'500, "100 keys, 100,000 by 2,500"},
          Case{100, 100'000, 100'000, "100 keys, 100,000 by 100,000"},
          Case{100, 10'000, 100, "100 keys, 10,000 by 100: a result for each record"}}) {
        const WindowChecksum right = expected(records, one);
        const auto contestant = [&](const char* name, Sharing sharing) {
            return Contestant{name, [=] { return shared(sharing, records, one); }, right};
        };
        contest.compare(one.title,
                        {contestant("by key (the default)", Sharing::by_key),
                         contestant("farmed", Sharing::farmed), contestant("paned", Sharing::paned),
                         contestant("map-reduce", Sharing::map_reduce),
                         contestant("combined", Sharing::combined),
                         contestant("by key, late records apart", Sharing::by_key_with_late),
                         contestant("farmed, late records apart", Sharing::farmed_with_late)});
    }
    return contest.all_right() ? 0 : 1;
}
