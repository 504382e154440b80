// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo streaming benchmark on one worker and on two beside a hand-written loop on one thread,
// over the same events. Every campaign, window and count must be the same. Rounds alternate between
// the contestants; the table gives medians, and the median and the range of the ratios round by
// round. Two hand-written loops at once, which share nothing, show what the machine gives.
//
//   yahoo_bench [EVENTS [ROUNDS]]     default 20,000,000 events a contestant, 9 rounds
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/strid.hpp>

#include "../hand/yahoo_benchmark.hpp"
#include "bench/bar.hpp"
#include "bench/statistics.hpp"
#include "events.hpp"
#include "papers/2-windflow/yahoo-benchmark/views.hpp"

namespace {

using namespace strid::bench;
namespace yahoo = strid::apps::yahoo_benchmark;

/// Campaign, start, end and count of each window.
using Answer = std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint64_t>>;

struct Measured {
    double seconds = 0;
    Answer answer = {};
    strid::LatencyReport latency = {};
};

bool all_right = true;

template <class Row>
void append(Answer& answer, const Row& row) {
    answer.emplace_back(row.campaign, row.start_ms, row.end_ms, row.count);
}

template <class Events>
Measured count_by_hand(const Events& events, std::uint64_t count) {
    const std::vector<std::uint32_t> campaign_of = make_campaigns();
    Measured measured;
    const auto report = [&measured](const hand::WindowCount& row) { append(measured.answer, row); };
    const std::int64_t begin_ns = strid::now_ns();
    hand::ViewCounter counter(campaign_of, window_ms, disorder_ms_max);
    for_each_event(events, count, [&](const hand::AdEvent& event) { counter.add(event, report); });
    counter.finish(report);
    measured.seconds = static_cast<double>(strid::now_ns() - begin_ns) * 1e-9;
    return measured;
}

/// Two loops at once; the time of one that would be as fast as both.
template <class Events>
Measured count_by_two_hands(const Events& events, std::uint64_t count) {
    auto other =
        std::async(std::launch::async, [&events, count] { return count_by_hand(events, count); });
    Measured measured = count_by_hand(events, count);
    const double rate = 1 / measured.seconds + 1 / other.get().seconds;
    measured.seconds = 1 / rate;
    return measured;
}

/// Hands its rows to the caller when the stream ends.
struct AnswerSink {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<strid::Closed>};

    Answer* result;
    Answer rows{};

    void operator()(const yahoo::CampaignCount& row) { append(rows, row); }
    void on(strid::Closed) { *result = std::move(rows); }
    auto state() { return std::tie(rows); }
};

template <class Events>
Measured count_on_engine(const Events& events, std::uint64_t count, std::size_t workers) {
    using std::chrono::milliseconds;
    std::vector<yahoo::CampaignTable::Entry> entries;
    const std::vector<std::uint32_t> campaign_of = make_campaigns();
    for (std::uint32_t ad = 0; ad < ads; ++ad) entries.push_back({ad, campaign_of[ad]});
    const yahoo::Campaigns campaigns{yahoo::CampaignTable{std::move(entries)}};
    const yahoo::Counting counting{.window = milliseconds{window_ms},
                                   .disorder = milliseconds{disorder_ms_max}};
    Measured measured;
    strid::Graph graph{"yahoo benchmark"};
    auto views =
        yahoo::views_by_campaign(graph.source(EventSource<yahoo::Event, Events>{events, count},
                                              {.name = "events", .parallelism = workers}),
                                 campaigns, counting);
    yahoo::count_views(std::move(views), counting)
        .sink(AnswerSink{&measured.answer}, {.name = "answer"});
    strid::RunOptions options;
    options.workers = workers;
    const strid::RunReport report = strid::run(graph, options);
    measured.seconds = report.seconds;
    measured.latency = report.segments.at(1).latency;
    return measured;
}

/// The results of a contestant in each round.
struct Row {
    std::string name;
    double bar = 0;  // of the ratio; 0: none
    std::vector<double> seconds = {};
    std::vector<double> p50_us = {};
    std::vector<double> p99_us = {};

    void add(const Measured& measured) {
        seconds.push_back(measured.seconds);
        p50_us.push_back(static_cast<double>(measured.latency.p50_ns) / 1e3);
        p99_us.push_back(static_cast<double>(measured.latency.p99_ns) / 1e3);
    }
};

void print(const std::vector<Row>& rows, std::uint64_t count) {
    for (const Row& row : rows) {
        const std::vector<double> faster = ratios(rows.front().seconds, row.seconds);
        const auto [low, high] = std::minmax_element(faster.begin(), faster.end());
        std::printf("| %-18s | %6.1f | %5.2f (%.2f to %.2f) |", row.name.c_str(),
                    static_cast<double>(count) / median(row.seconds) / 1e6, median(faster), *low,
                    *high);
        if (median(row.p99_us) > 0) {
            std::printf(" %4.0f / %4.0f |", median(row.p50_us), median(row.p99_us));
        } else {
            std::printf("             |");
        }
        std::printf(row.bar > 0 ? " %.1f |\n" : "     |\n", row.bar);
    }
    std::fflush(stdout);
}

template <template <class> class Events>
void measure(const char* title, std::uint64_t count, int rounds) {
    const Events<hand::AdEvent> for_hand;
    const Events<yahoo::Event> for_engine;
    Answer expected = count_by_hand(for_hand, count).answer;
    std::sort(expected.begin(), expected.end());
    std::vector<Row> rows{
        {"by hand"}, {"two at once"}, {"Strid, one worker"}, {"Strid, two workers", 1.2}};
    const auto take = [&](Row& row, Measured measured) {
        std::sort(measured.answer.begin(), measured.answer.end());
        if (measured.answer != expected || expected.empty()) {
            std::printf("WRONG ANSWER: %s, %s\n", title, row.name.c_str());
            all_right = false;
        }
        row.add(measured);
    };
    for (int round = 0; round < rounds; ++round) {
        take(rows[0], count_by_hand(for_hand, count));
        take(rows[1], count_by_two_hands(for_hand, count));
        take(rows[2], count_on_engine(for_engine, count, 1));
        take(rows[3], count_on_engine(for_engine, count, 2));
    }
    std::printf("\n%s: %zu windows of campaigns\n\n", title, expected.size());
    std::printf(
        "| %-18s | %6s | ratio (spread)      | p50 / p99 us | bar |\n|---|---|---|---|---|\n", "",
        "rate");
    print(rows, count);
    for (const Row& row : rows) {
        if (row.bar == 0) continue;
        print_bar(std::string(title) + ": " + row.name + " / by hand",
                  median(ratios(rows.front().seconds, row.seconds)), Bar::at_least, row.bar);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
    if (events == 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: yahoo_bench [EVENTS [ROUNDS]]\n");
        return 2;
    }
    std::printf(
        "The Yahoo streaming benchmark: M events/s; how many times faster than by hand;\n"
        "microseconds from an event's entry until it is counted\n");
    measure<EventsAsText>("Yahoo, events as text in memory, parsed",
                          std::max<std::uint64_t>(events / 4, 1), rounds);
    measure<EventsInMemory>("Yahoo, events in memory", events, rounds);
    measure<MadeEvents>("Yahoo, events made on the way", events, rounds);
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
