// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo benchmark over events in memory, whose times go on where they are read again (paper 2,
// figure 12): `strid run` cannot replay it. The views that are counted have to be those of the
// hand-written loop.
//
//   replayed_ads --events N [options of a run, as --metrics FILE]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/graph/program.hpp>

#include "hand/yahoo_benchmark.hpp"
#include "yahoo-benchmark/views.hpp"
#include "yahoo/events.hpp"

namespace {

using namespace strid;
namespace yahoo = apps::yahoo_benchmark;
using Events = bench::EventsInMemory<yahoo::Event>;

/// Windows of campaigns, and the views in them.
struct Answer {
    std::uint64_t windows = 0;
    std::uint64_t views = 0;
    bool operator==(const Answer&) const = default;
};

Answer by_hand(std::uint64_t count) {
    const bench::EventsInMemory<bench::hand::AdEvent> events;
    const std::vector<std::uint32_t> campaign_of = bench::make_campaigns();
    Answer answer;
    const auto report = [&answer](const bench::hand::WindowCount& row) {
        ++answer.windows;
        answer.views += row.count;
    };
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
    return with_errors_told([&] {
        const Events events;
        const auto table = campaigns();
        const yahoo::Counting counting{
            .window = std::chrono::milliseconds{bench::window_ms},
            .disorder = std::chrono::milliseconds{bench::disorder_ms_max}};
        std::atomic<std::uint64_t> windows = 0;
        std::atomic<std::uint64_t> views = 0;
        Graph graph{"yahoo-benchmark"};
        auto seen = yahoo::views_by_campaign(
            graph.source(bench::EventSource<yahoo::Event, Events>{events, count},
                         {.name = "events"}),
            table, counting);
        yahoo::count_views(std::move(seen), counting)
            .sink(
                [&](const yahoo::CampaignCount& row) {
                    windows.fetch_add(1, std::memory_order_relaxed);
                    views.fetch_add(row.count, std::memory_order_relaxed);
                },
                {.name = "add"});
        const int code = run(graph, arguments);
        const Answer found{windows, views};
        const Answer expected = by_hand(count);
        if (code == 0 && found != expected) {
            throw Error(fmt::format("{} windows with {} views; by hand {} with {}", found.windows,
                                    found.views, expected.windows, expected.views));
        }
        return code;
    });
}
