// SPDX-License-Identifier: Apache-2.0
//
// `--form paper`: the graph of figure 11 of paper 2, four operators behind the source.
//
//   events ── views ── join ── key ── count ── write
//
// The paper's operators do more each than ours do: `join` projects a view, looks its campaign up
// and draws the watermark; `write` makes the row of a result. Answers, late views and counters are
// those of the other form.
//
// Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/connector/csv_writer.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/lookup.hpp>
#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/result.hpp>

#include "apps/common/endpoints.hpp"
#include "views.hpp"

namespace strid::apps::yahoo_benchmark {

struct AdOf {
    std::uint32_t operator()(const Event& event) const noexcept { return event.ad; }
};
struct ViewOfEvent {
    CampaignView operator()(const Event& event, const std::uint32_t& campaign) const noexcept {
        return view_of_campaign(View{event.ad, event.time_ms}, campaign);
    }
};

/// The campaign and the time of each view; views of an ad that the table has not are left out. The
/// stream behind it has the time of its views.
class JoinInTime : public OperatorTypes<Event, CampaignView> {
  public:
    static constexpr OperatorTraits traits{.kind = "flat_map",
                                           .emits = Emits::at_most_one,
                                           .hears = events<Opened, BatchEnds, Clock, Ended>,
                                           .has = Has::wake_at_ns | Has::facts,
                                           .forgets_input = true};

    JoinInTime(const Campaigns& campaigns, Duration disorder)
        : lookup_(campaigns, AdOf{}, ViewOfEvent{}),
          time_(time_of, BoundedDisorder{disorder}, Duration{0}) {}

    [[nodiscard]] OperatorFacts facts() const { return {.files = lookup_.facts().files}; }
    void on(const Opened& opened) { lookup_.on(opened); }
    void on(BatchEnds ends) { lookup_.on(ends); }
    [[nodiscard]] Progress on(Clock clock) { return time_.on(clock); }
    void on(Ended ended, auto& emit) { time_.on(ended, emit); }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return time_.wake_at_ns(); }

    void process(Event& event, auto& emit) {
        const auto in_time = [&](CampaignView view) { time_.process(view, emit); };
        lookup_.process(event, in_time);
    }
    auto state() { return std::tuple_cat(lookup_.state(), time_.state()); }

  private:
    using LookUp =
        operators::Lookup<Event, CampaignTable, AdOf, ViewOfEvent, operators::Missing::left_out>;
    using Time = operators::EventTimeOperator<CampaignView, std::remove_const_t<decltype(time_of)>,
                                              BoundedDisorder>;

    LookUp lookup_;
    Time time_;
};

/// The sink, which makes the rows.
class ResultWriter : public CsvWriter<CampaignCount> {
  public:
    using CsvWriter::CsvWriter;

    void operator()(const WindowResult<std::uint32_t, std::uint64_t>& result) {
        CsvWriter::operator()(count_of(result));
    }
};

/// The counts of views by campaign and window, in the operators of the paper.
template <class Events>
void count_in_papers_form(Events events, const Endpoints& endpoints, const Counting& counting,
                          const Campaigns& campaigns) {
    auto counts = std::move(events)
                      .filter(is_view, {.name = "views"})
                      .apply(JoinInTime{campaigns, counting.disorder}, {.name = "join"})
                      .timed_by(time_of)
                      .template key_by<&CampaignView::campaign>()
                      .sealed()
                      .window(window::TimeWindows::tumbling(counting.window), window::count(),
                              share::by_key, {.name = "count"});
    const std::string path = endpoints.output_of(endpoints.output);
    if (path.empty()) {
        std::move(counts).sink(discard(), {.name = "drop"});
    } else {
        std::move(counts).sink(ResultWriter{path, {.writing = endpoints.writing}},
                               {.name = "write"});
    }
}

}  // namespace strid::apps::yahoo_benchmark
