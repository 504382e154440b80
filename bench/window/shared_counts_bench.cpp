// SPDX-License-Identifier: Apache-2.0
//
// Windows of a number of records over a stream that is grouped, not partitioned, on two workers:
// the ways in which replicas share the work (docs/design/0006), beside windows by key with one
// replica. Rounds alternate; every answer is compared with differences of running totals.
//
//   shared_counts_bench [RECORDS [STEPS [ROUNDS]]]
//     STEPS   square roots that lifting a record takes; default 0
//     default 5,000,000 records, 5 rounds
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "contest.hpp"
#include "quotes.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

constexpr QuoteShape shape{.symbols = 100};

/// The term that the windows add up: as costly as one wishes.
struct Worth {
    int steps;

    std::int64_t operator()(const Quote& quote) const noexcept {
        double worth = static_cast<double>(quote.bid);
        for (int i = 0; i < steps; ++i) worth = std::sqrt(worth + i);
        return static_cast<std::int64_t>(worth * 1'000);
    }
};

enum class Sharing { by_key, farmed, paned, map_reduce };

Measured shared(Sharing sharing, std::uint64_t records, window::CountWindows windows, Worth worth) {
    return timed(records, [&](WindowChecksum& checksum) {
        Graph graph{"shared count windows"};
        auto quotes = graph.source(QuoteSource{records, QuoteGenerator{shape}});
        const auto sum = window::sum<Quote>(worth);
        const ChecksumSink sink{&checksum};
        const WindowOptions dropped{.at_end = OpenWindows::drop};
        if (sharing == Sharing::by_key) {
            std::move(quotes)
                .key_by<&Quote::symbol>()
                .sealed()  // whole records, as the others have them
                .window(windows, sum, {.parallelism = 1, .at_end = OpenWindows::drop})
                .sink(sink);
        } else {
            auto grouped = std::move(quotes).key_by<&Quote::symbol>();
            if (sharing == Sharing::farmed) {
                std::move(grouped).window(windows, sum, share::farmed, dropped).sink(sink);
            } else if (sharing == Sharing::paned) {
                std::move(grouped).window(windows, sum, share::paned, dropped).sink(sink);
            } else {
                std::move(grouped).window(windows, sum, share::map_reduce, dropped).sink(sink);
            }
        }
        run(graph, {.workers = 2});
    });
}

/// A window's sum is the difference of two of its key's running totals.
WindowChecksum expected(std::uint64_t records, std::uint64_t length, std::uint64_t slide,
                        Worth worth) {
    std::vector<std::vector<std::int64_t>> totals(shape.symbols, {0});
    QuoteGenerator generator{shape};
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        auto& of_key = totals[quote.symbol];
        of_key.push_back(of_key.back() + worth(quote));
    }
    WindowChecksum checksum;
    for (std::uint64_t symbol = 0; symbol < shape.symbols; ++symbol) {
        const auto& of_key = totals[symbol];
        for (std::uint64_t start = 0; start + length < of_key.size(); start += slide) {
            checksum.add(symbol, start, of_key[start + length] - of_key[start]);
        }
    }
    return checksum;
}

struct Case {
    std::uint64_t length;
    std::uint64_t slide;
    const char* title;
};

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
    const Worth worth{argc > 2 ? std::atoi(argv[2]) : 0};
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
    if (records == 0 || worth.steps < 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: shared_counts_bench [RECORDS [STEPS [ROUNDS]]]\n");
        return 2;
    }
    Contest contest{rounds};
    for (const Case& one : {Case{1'000, 25, "windows of 1,000 records by 25, 100 keys"},
                            Case{1'000, 1'000, "1,000 by 1,000"}, Case{1'000, 1, "1,000 by 1"}}) {
        const auto windows = window::CountWindows::sliding(one.length, one.slide);
        const WindowChecksum right = expected(records, one.length, one.slide, worth);
        const auto contestant = [&](const char* name, Sharing sharing) {
            return Contestant{name, [=] { return shared(sharing, records, windows, worth); },
                              right};
        };
        contest.compare(one.title,
                        {contestant("by key, one replica", Sharing::by_key),
                         contestant("farmed", Sharing::farmed), contestant("paned", Sharing::paned),
                         contestant("map-reduce", Sharing::map_reduce)});
    }
    return contest.all_right() ? 0 : 1;
}
