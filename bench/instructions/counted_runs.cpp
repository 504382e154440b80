// SPDX-License-Identifier: Apache-2.0
//
// Short runs of the engine on one worker, whose instructions count.py counts, and the same answers
// by hand: a loop over the same input without an engine.
//
//   counted_runs RUN RECORDS            what the engine answers
//   counted_runs --by-hand RUN RECORDS  what it should
//   counted_runs                        the runs, each with how many records are enough
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <yahoo-benchmark/views.hpp>

#include <strid/strid.hpp>

#include "../engine/pipeline.hpp"
#include "../hand/pipeline.hpp"
#include "../hand/yahoo_benchmark.hpp"
#include "../window/quotes.hpp"
#include "../yahoo/events.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using namespace std::chrono_literals;
namespace yahoo = strid::apps::yahoo_benchmark;

/// The sum that runs are compared by; no order changes it.
struct Answer {
    std::uint64_t results = 0;
    std::uint64_t sum = 0;

    void add(std::uint64_t result) noexcept {
        ++results;
        sum += result;
    }
};

/// Adds up what `number_of` makes of each result.
template <class NumberOf>
struct AnswerSink {
    Answer* answer;  // of the caller, which reads it after the run
    NumberOf number_of;
    Answer so_far{};

    template <class Result>
    void operator()(const Result& result) noexcept {
        so_far.add(number_of(result));
    }
    void close() noexcept { *answer = so_far; }
};

void run_on_one_worker(const Graph& graph) {
    RunOptions options;
    options.workers = 1;
    options.parallelism = 1;
    run(graph, options);
}

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
            .aligned(Alignment{Duration{join_reach_ns / 10}});
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

// ---- the Yahoo streaming benchmark -------------------------------------------------------------

std::uint64_t number_of_count(std::uint32_t campaign, std::int64_t start_ms,
                              std::uint64_t count) noexcept {
    return (campaign + 1) * static_cast<std::uint64_t>(start_ms + window_ms) + count;
}

Answer yahoo_benchmark(std::uint64_t records) {
    std::vector<yahoo::CampaignTable::Entry> entries;
    const std::vector<std::uint32_t> campaign_of = make_campaigns();
    for (std::uint32_t ad = 0; ad < ads; ++ad) entries.push_back({ad, campaign_of[ad]});
    const yahoo::Campaigns campaigns{yahoo::CampaignTable{std::move(entries)}};
    const yahoo::Counting counting{.window = std::chrono::milliseconds{window_ms},
                                   .disorder = std::chrono::milliseconds{disorder_ms_max}};
    const MadeEvents<yahoo::Event> events;
    Answer answer;
    Graph graph{"yahoo benchmark"};
    yahoo::count_views(
        yahoo::views_by_campaign(
            graph.source(EventSource<yahoo::Event, MadeEvents<yahoo::Event>>{events, records}),
            campaigns, counting),
        counting)
        .sink(AnswerSink{&answer, [](const yahoo::CampaignCount& row) {
                             return number_of_count(row.campaign, row.start_ms, row.count);
                         }});
    run_on_one_worker(graph);
    return answer;
}

Answer yahoo_benchmark_by_hand(std::uint64_t records) {
    Answer answer;
    const auto report = [&answer](const hand::WindowCount& row) {
        answer.add(number_of_count(row.campaign, row.start_ms, row.count));
    };
    const std::vector<std::uint32_t> campaign_of = make_campaigns();
    hand::ViewCounter counter(campaign_of, window_ms, disorder_ms_max);
    for_each_event(MadeEvents<hand::AdEvent>{}, records,
                   [&](const hand::AdEvent& event) { counter.add(event, report); });
    counter.finish(report);
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

struct Run {
    std::string_view name;
    std::uint64_t records;  // a poll learns its length by the clock: cheap records need many
    Answer (*on_engine)(std::uint64_t records);
    Answer (*by_hand)(std::uint64_t records);
};
constexpr Run runs[] = {
    {"fused-pipeline", 1'000'000, pipeline<Layout::fused>, pipeline_by_hand},
    {"two-tasks", 120'000, pipeline<Layout::map_elsewhere>, pipeline_by_hand},
    {"count-windows", 120'000, count_windows, count_windows_by_hand},
    {"time-windows", 120'000, time_windows<false>, time_windows_by_hand<false>},
    {"greatest-in-time-windows", 120'000, time_windows<true>, time_windows_by_hand<true>},
    {"interval-join", 120'000, join, join_by_hand},
    {"yahoo-benchmark", 120'000, yahoo_benchmark, yahoo_benchmark_by_hand},
    {"inlet-and-outlet", 120'000, inlet_and_outlet, inlet_and_outlet_by_hand},
};

}  // namespace

int main(int argc, char** argv) {
    if (argc == 1) {
        for (const Run& run : runs) {
            std::printf("%s %llu\n", run.name.data(), static_cast<unsigned long long>(run.records));
        }
        return EXIT_SUCCESS;
    }
    const bool by_hand = std::strcmp(argv[1], "--by-hand") == 0;
    const int first = by_hand ? 2 : 1;
    if (argc != first + 2) {
        std::fprintf(stderr, "usage: counted_runs [--by-hand] RUN RECORDS\n");
        return 2;
    }
    const std::string_view name = argv[first];
    const auto* const found = std::find_if(std::begin(runs), std::end(runs),
                                           [&](const Run& run) { return run.name == name; });
    if (found == std::end(runs)) {
        std::fprintf(stderr, "counted_runs: there is no run '%s'\n", argv[first]);
        return 2;
    }
    const std::uint64_t records = std::strtoull(argv[first + 1], nullptr, 10);
    try {
        const Answer answer = by_hand ? found->by_hand(records) : found->on_engine(records);
        std::printf("%llu results, sum %llu\n", static_cast<unsigned long long>(answer.results),
                    static_cast<unsigned long long>(answer.sum));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "counted_runs: %s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
