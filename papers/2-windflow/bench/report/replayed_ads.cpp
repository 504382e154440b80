// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo benchmark over events in memory, whose times go on where they are read again (paper 2,
// figure 12): `strid run` cannot replay it. Every campaign, window and count has to be that of the
// hand-written loop. Times lie up to `bench::disorder_ms_max` behind their place.
//
//   replayed_ads --events N [options of a run, as --metrics FILE]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/program.hpp>

#include "papers/2-windflow/bench/hand/yahoo_benchmark.hpp"
#include "papers/2-windflow/bench/yahoo/events.hpp"
#include "papers/2-windflow/yahoo-benchmark/views.hpp"

namespace {

using namespace strid;
namespace yahoo = apps::yahoo_benchmark;
using Events = bench::EventsInMemory<yahoo::Event>;

/// Campaign, start, end and count of each window, in any order.
using Answer = std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint64_t>>;

template <class Row>
void append(Answer& answer, const Row& row) {
    answer.emplace_back(row.campaign, row.start_ms, row.end_ms, row.count);
}

void check(Answer found, Answer expected) {
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    if (found == expected) return;
    const auto other = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    const auto text_at = [](auto at, const Answer& rows) {
        if (at == rows.end()) return std::string("no more");
        const auto& [campaign, start_ms, end_ms, count] = *at;
        return fmt::format("{},{},{},{}", campaign, start_ms, end_ms, count);
    };
    throw Error(fmt::format("{} windows; by hand {}; the first that differs is {}; by hand {}",
                            found.size(), expected.size(), text_at(other.first, found),
                            text_at(other.second, expected)));
}

Answer by_hand(std::uint64_t count) {
    const bench::EventsInMemory<bench::hand::AdEvent> events;
    const std::vector<std::uint32_t> campaign_of = bench::make_campaigns();
    Answer answer;
    const auto report = [&answer](const bench::hand::WindowCount& row) { append(answer, row); };
    bench::hand::ViewCounter counter(campaign_of, bench::window_ms, bench::disorder_ms_max);
    bench::for_each_event(events, count, [&](const auto& event) { counter.add(event, report); });
    counter.finish(report);
    return answer;
}

yahoo::Campaigns campaigns() {
    std::vector<yahoo::CampaignTable::Entry> entries;
    const std::vector<std::uint32_t> campaign_of = bench::make_campaigns();
    for (std::uint32_t ad = 0; ad < bench::ads; ++ad) entries.push_back({ad, campaign_of[ad]});
    return yahoo::Campaigns{yahoo::CampaignTable{std::move(entries)}};
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t count = 10'000'000;
    Arguments arguments("replayed_ads", "the Yahoo benchmark over events in memory");
    arguments.option("--events", count, "Events that are counted", {.at_least = 1});
    if (const auto code = arguments.parse(argc, argv)) return *code;
    RunOptions& options = arguments.run().run;
    const std::size_t sources = options.parallelism != 0 ? options.parallelism : options.workers;
    if (sources != 0) options.operator_parallelism.emplace("events", sources);
    return with_errors_reported([&] {
        const Events events;
        const auto table = campaigns();
        const yahoo::Counting counting{
            .window = std::chrono::milliseconds{bench::window_ms},
            .disorder = std::chrono::milliseconds{bench::disorder_ms_max}};
        Answer found;
        std::mutex adding;  // replicas of the sink; there are few rows
        Graph graph{"yahoo-benchmark"};
        auto seen = yahoo::views_by_campaign(
            graph.source(bench::EventSource<yahoo::Event, Events>{events, count},
                         {.name = "events"}),
            table, counting);
        yahoo::count_views(std::move(seen), counting)
            .sink(
                [&](const yahoo::CampaignCount& row) {
                    const std::lock_guard lock{adding};
                    append(found, row);
                },
                {.name = "add"});
        const int code = run(graph, arguments);
        if (code == 0) check(std::move(found), by_hand(count));
        return code;
    });
}
