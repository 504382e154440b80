// SPDX-License-Identifier: Apache-2.0
//
// Short runs of the engine on one worker, whose instructions count.py counts, and the same answers
// by hand: a loop over the same input without an engine. counted.hpp has the command line.
#include <algorithm>
#include <cstdint>
#include <map>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../engine/pipeline.hpp"
#include "../hand/pipeline.hpp"
#include "../window/quotes.hpp"
#include "counted.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using namespace std::chrono_literals;

// ---- pipelines ---------------------------------------------------------------------------------

Answer answer_of(const PipelineChecksum& checksum) noexcept {
    return {checksum.count, checksum.payload + static_cast<std::uint64_t>(checksum.value * 2)};
}

template <Layout layout>
Answer pipeline(std::uint64_t records) {
    PipelineChecksum checksum;
    run_on_one_worker(make_pipeline(records, layout, checksum));
    return answer_of(checksum);
}

Answer pipeline_by_hand(std::uint64_t records) {
    return answer_of(hand::run_pipeline_fused(records).checksum);
}

// ---- windows of quotes -------------------------------------------------------------------------

constexpr std::uint64_t length = 100;  // of records, or of steps of time
constexpr std::uint64_t slide = 25;
constexpr std::int64_t step_ns = 1'000;
constexpr QuoteShape shape{.symbols = 100, .step_ns = step_ns, .disorder = 64};

constexpr std::uint64_t number_of_window(std::uint64_t symbol, std::uint64_t start,
                                         std::int64_t value) noexcept {
    return (symbol + 1) * (start + 1) + static_cast<std::uint64_t>(value);
}

Answer count_windows(std::uint64_t records) {
    Answer answer;
    Graph graph{"count windows"};
    graph.source(QuoteSource{records, QuoteGenerator{shape}})
        .key_by<&Quote::symbol>()
        .window(window::CountWindows::sliding(length, slide), window::sum<&Quote::bid>(),
                {.at_end = OpenWindows::drop})
        .sink(AnswerSink{&answer, [](const auto& result) {
                             return number_of_window(result.key, result.window.start, result.value);
                         }});
    run_on_one_worker(graph);
    return answer;
}

Answer count_windows_by_hand(std::uint64_t records) {
    Answer answer;
    std::map<std::uint64_t, std::vector<std::int64_t>> bids;
    QuoteGenerator generator{shape};
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        bids[quote.symbol].push_back(quote.bid);
    }
    for (const auto& [symbol, values] : bids) {
        for (std::uint64_t start = 0; start + length <= values.size(); start += slide) {
            std::int64_t sum = 0;
            for (std::uint64_t i = 0; i < length; ++i) sum += values[start + i];
            answer.add(number_of_window(symbol, start, sum));
        }
    }
    return answer;
}

constexpr std::int64_t length_ns = static_cast<std::int64_t>(length) * 100 * step_ns;
constexpr std::int64_t slide_ns = static_cast<std::int64_t>(slide) * 100 * step_ns;

/// Sums, or with `largest` the greatest bid.
template <bool largest>
Answer time_windows(std::uint64_t records) {
    const auto aggregate = [] {
        if constexpr (largest) {
            return window::maximum<&Quote::bid>();
        } else {
            return window::sum<&Quote::bid>();
        }
    };
    Answer answer;
    Graph graph{"time windows"};
    graph.source(QuoteSource{records, QuoteGenerator{shape}})
        .event_time<&Quote::time>(BoundedDisorder{Duration{shape.disorder * step_ns}})
        .template key_by<&Quote::symbol>()
        .window(window::TimeWindows::sliding(Duration{length_ns}, Duration{slide_ns}), aggregate())
        .sink(AnswerSink{&answer, [](const auto& result) {
                             return number_of_window(
                                 result.key, static_cast<std::uint64_t>(result.window.start.ns()),
                                 static_cast<std::int64_t>(result.value));
                         }});
    run_on_one_worker(graph);
    return answer;
}

template <bool largest>
Answer time_windows_by_hand(std::uint64_t records) {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> windows;
    QuoteGenerator generator{shape};
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        const std::int64_t time = quote.time.ns();
        std::int64_t start = time / slide_ns * slide_ns;
        if (start > time) start -= slide_ns;
        for (; start > time - length_ns; start -= slide_ns) {
            const auto [at, is_new] = windows.try_emplace({quote.symbol, start}, quote.bid);
            if (is_new) continue;
            at->second = largest ? std::max(at->second, quote.bid) : at->second + quote.bid;
        }
    }
    Answer answer;
    for (const auto& [where, value] : windows) {
        answer.add(number_of_window(where.first, static_cast<std::uint64_t>(where.second), value));
    }
    return answer;
}

// ---- a join ------------------------------------------------------------------------------------

constexpr std::uint32_t join_symbols = 2'000;
constexpr std::int64_t join_reach_ns = 2'000 * step_ns;

/// Every other quote of the stream, the first or the second of two.
class HalfOfQuotes {
  public:
    using record_type = Quote;
    static constexpr SourceTraits traits{.hears = events<>};
    HalfOfQuotes(std::uint64_t records, std::uint64_t half)
        : records_(records), half_(half), generator_({.symbols = join_symbols}) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && made_ != records_; --budget) {
            Quote quote;
            generator_.fill(quote);
            if (made_++ % 2 == half_ && !emit(std::move(quote))) break;
        }
        return made_ != records_ ? SourceStatus::more : SourceStatus::finished;
    }
    auto state() { return std::tie(generator_, made_); }

  private:
    std::uint64_t records_;
    std::uint64_t half_;
    QuoteGenerator generator_;
    std::uint64_t made_ = 0;
};

std::uint64_t number_of_pair(const Quote& left, const Quote& right) noexcept {
    return left.number * 31 + right.number;
}

Answer join(std::uint64_t records) {
    Answer answer;
    Graph graph{"join"};
    const auto side = [&](std::uint64_t half) {
        return graph.source(HalfOfQuotes{records, half})
            .event_time<&Quote::time>(MonotonousTime{})
            .apply(aligned(Alignment{Duration{join_reach_ns / 10}}));
    };
    side(0)
        .join(side(1), on<&Quote::symbol>(),
              within(Duration{-join_reach_ns}, Duration{join_reach_ns}), number_of_pair)
        .sink(AnswerSink{&answer, [](std::uint64_t number) { return number; }});
    run_on_one_worker(graph);
    return answer;
}

Answer join_by_hand(std::uint64_t records) {
    Answer answer;
    std::map<std::uint64_t, std::vector<Quote>> earlier;  // of a symbol, in order of time
    QuoteGenerator generator{{.symbols = join_symbols}};
    for (std::uint64_t i = 0; i < records; ++i) {
        Quote quote;
        generator.fill(quote);
        std::vector<Quote>& others = earlier[quote.symbol];
        for (auto other = others.rbegin();
             other != others.rend() && quote.time.ns() - other->time.ns() <= join_reach_ns;
             ++other) {
            if (other->number % 2 == quote.number % 2) continue;
            const bool is_left = quote.number % 2 == 0;
            answer.add(is_left ? number_of_pair(quote, *other) : number_of_pair(*other, quote));
        }
        others.push_back(quote);
    }
    return answer;
}

// ---- doors -------------------------------------------------------------------------------------

constexpr std::uint64_t through_doors(std::uint64_t number) noexcept {
    return number * 3 + 1;
}

/// One thread pushes all, and pops while it pushes.
Answer inlet_and_outlet(std::uint64_t records) {
    Answer answer;
    Graph graph{"doors"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(1'024);
    auto outlet = std::move(stream).map(through_doors).outlet(1'024);
    RunOptions options;
    options.workers = 1;
    Running running = start(graph, options);
    std::thread pusher([&inlet = inlet, records] {
        for (std::uint64_t i = 0; i < records; ++i) {
            if (!inlet.push(i)) break;
        }
        inlet.close();
    });
    while (const auto number = outlet.pop()) answer.add(*number);
    pusher.join();
    running.wait();
    return answer;
}

Answer inlet_and_outlet_by_hand(std::uint64_t records) {
    Answer answer;
    for (std::uint64_t i = 0; i < records; ++i) answer.add(through_doors(i));
    return answer;
}

constexpr Run runs[] = {
    {"fused-pipeline", 1'000'000, pipeline<Layout::fused>, pipeline_by_hand},
    {"two-tasks", 120'000, pipeline<Layout::map_elsewhere>, pipeline_by_hand},
    {"count-windows", 120'000, count_windows, count_windows_by_hand},
    {"time-windows", 120'000, time_windows<false>, time_windows_by_hand<false>},
    {"greatest-in-time-windows", 120'000, time_windows<true>, time_windows_by_hand<true>},
    {"interval-join", 120'000, join, join_by_hand},
    {"inlet-and-outlet", 120'000, inlet_and_outlet, inlet_and_outlet_by_hand},
};

}  // namespace

int main(int argc, char** argv) {
    return counted_main(argc, argv, runs);
}
