// SPDX-License-Identifier: Apache-2.0
//
// The operators of the Yahoo streaming benchmark (Chintapalli et al.: "Benchmarking streaming
// computation engines: Storm, Flink and Spark Streaming", IPDPS workshops 2016): filter, project,
// join, and a count by campaign in tumbling windows of event time. They stand here as one template,
// so that a file, or events that a program makes, can be the source.
//
// The records are plain values. Threads: a graph is built by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "campaign_table.hpp"

namespace strid::apps::yahoo_benchmark {

/// A user's action on an ad on a page. The text points to where the event was read.
struct Event {
    std::uint32_t user;
    std::uint32_t page;
    std::uint32_t ad;
    std::string_view ad_type;
    std::string_view event_type;  ///< "view", "click" or "purchase"
    std::int64_t time_ms;         ///< since 1970
    std::string_view ip;
};

/// The projection of a view in the benchmark.
struct View {
    std::uint32_t ad;
    std::int64_t time_ms;
};

struct CampaignView {
    std::uint32_t campaign;
    EventTime time;
};
static_assert(sizeof(View) == 16 && std::is_trivially_copyable_v<View>);
static_assert(sizeof(CampaignView) == 16 && std::is_trivially_copyable_v<CampaignView>);

inline constexpr auto time_of = [](const CampaignView& view) { return view.time; };

/// Views of the ads of a campaign in a window.
struct CampaignCount {
    std::uint32_t campaign;
    std::int64_t start_ms;
    std::int64_t end_ms;
    std::uint64_t count;
};

/// How the views are counted.
struct Counting {
    std::chrono::nanoseconds window = std::chrono::seconds{10};
    /// How far the time of a view may lie before the latest before it.
    std::chrono::nanoseconds disorder = std::chrono::seconds{1};
};

/// The view of an ad as one of its campaign.
inline constexpr auto view_of_campaign = [](const View& view, const std::uint32_t& campaign) {
    return CampaignView{campaign, EventTime{std::chrono::milliseconds{view.time_ms}}};
};

inline constexpr auto is_view = [](const Event& event) { return event.event_type == "view"; };

/// The row of a result of the windows.
template <class Result>
[[nodiscard]] CampaignCount count_of(const Result& result) noexcept {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    return {result.key, result.window.start.ns() / ns_per_ms, result.window.end.ns() / ns_per_ms,
            result.value};
}

/// The views among the events, a stream of `Event`, each with the campaign of its ad; views of an
/// ad that the table has not are left out.
template <class Events>
[[nodiscard]] auto views_by_campaign(Events events, const Campaigns& campaigns,
                                     const Counting& counting) {
    return std::move(events)
        .filter(is_view, {.name = "views"})
        .map(
            [](const Event& event) {
                return View{event.ad, event.time_ms};
            },
            {.name = "project"})
        .lookup(campaigns, field<&View::ad>, view_of_campaign, {.name = "join"})
        .event_time(time_of, BoundedDisorder{counting.disorder}, {.name = "time"})
        .template key_by<&CampaignView::campaign>();
}

/// The counts of views by campaign and window.
template <class Views>
[[nodiscard]] auto count_views(Views views, const Counting& counting) {
    return std::move(views)
        .window(window::TimeWindows::tumbling(counting.window), window::count(), share::automatic,
                {.name = "count"})
        .map([](const auto& result) { return count_of(result); }, {.name = "rows"});
}

}  // namespace strid::apps::yahoo_benchmark
