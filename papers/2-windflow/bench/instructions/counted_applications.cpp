// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo streaming benchmark as a run whose instructions are counted (bench/instructions).
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/strid.hpp>

#include "bench/instructions/counted.hpp"
#include "papers/2-windflow/bench/hand/yahoo_benchmark.hpp"
#include "papers/2-windflow/bench/yahoo/events.hpp"
#include "papers/2-windflow/yahoo-benchmark/views.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
namespace yahoo = strid::apps::yahoo_benchmark;

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

constexpr Run runs[] = {
    {"yahoo-benchmark", 120'000, yahoo_benchmark, yahoo_benchmark_by_hand},
};

}  // namespace

int main(int argc, char** argv) {
    return counted_main(argc, argv, runs);
}
