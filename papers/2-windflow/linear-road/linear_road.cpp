// SPDX-License-Identifier: Apache-2.0
#include "linear_road.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "answers.hpp"
#include "by_operator.hpp"
#include "event_replay.hpp"
#include "papers_form.hpp"
#include "roads.hpp"
#include "travel_times.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

namespace {

constexpr double pace_min = 0.25;
constexpr double pace_max = 1'000'000;

bool makes_traffic(const Endpoints& endpoints, const Options& options) noexcept {
    return options.makes_traffic || endpoints.generate > 0;
}

void check(const Endpoints& endpoints, const Options& options) {
    if (options.pace == 0) return;
    // Due times of all seconds are nanoseconds of 64 bits, and the input's clock is milliseconds.
    if (!(options.pace >= pace_min && options.pace <= pace_max)) {
        throw GraphError(fmt::format("--pace must be 0 or from {} to {}", pace_min, pace_max));
    }
    if (endpoints.rate_per_second > 0) throw GraphError("--pace and --rate exclude each other");
    if (endpoints.replays()) throw GraphError("--pace and --duration exclude each other");
}

void answer_by_roads(KeyedStream<Event, RoadOrCar, graph::KeyedEdge<Event, TimeOf>> events,
                     const CurrentTable<HistoryTable>& tolls, const AnswerWriter& writer) {
    answer(std::move(events).apply(Roads{}, {.name = "roads"}).timed_by(TimeOf{}), tolls, writer);
}

/// Calls `next` with the source as the endpoints and options want it: of few types, because what
/// stands behind a source is compiled for each of them.
template <class Next>
void with_pace(AnySource source, const Endpoints& endpoints, const Options& options,
               const std::shared_ptr<Timetable>& timetable, Next next) {
    if (endpoints.replays()) {
        // A rate is that of the input's order, which several replicas would not keep.
        const double rate = endpoints.rate_per_second;
        return next(paced(EventReplay{std::move(source), endpoints.duration, rate > 0}, rate));
    }
    if (timetable) {
        // Traffic begins with second 0, whichever replica has the first car.
        const auto first = makes_traffic(endpoints, options) ? std::optional{0} : std::nullopt;
        return next(OnTime{std::move(source), timetable, first});
    }
    next(paced(std::move(source), endpoints.rate_per_second));
}

/// The events are the output.
template <class Events>
void write_input(Events events, const Endpoints& endpoints) {
    const std::string path = endpoints.output_of(endpoints.output);
    if (path.empty()) {
        std::move(events).sink(discard(), {.name = "drop"});
    } else {
        std::move(events).sink(EventWriter{path, endpoints.writing}, {.name = "write"});
    }
}

AnySource source_of(const Endpoints& endpoints, const Options& options) {
    if (makes_traffic(endpoints, options)) {
        TrafficOptions traffic = options.traffic;
        traffic.count_max = endpoints.generate;
        traffic.seed = endpoints.seed;
        traffic.by_one = endpoints.rate_per_second > 0;  // as in a replay
        return AnySource{TrafficSource{traffic}};
    }
    return AnySource{
        EventSource{endpoints.input,
                    {.on_malformed = endpoints.on_malformed, .dead_letter = endpoints.dead_letter},
                    EventCheck(options.expressways == 0 ? expressways_max : options.expressways)}};
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           const CurrentTable<HistoryTable>& tolls) {
    check(endpoints, options);
    const auto timetable = options.pace > 0 ? std::make_shared<Timetable>(options.pace) : nullptr;
    const AnswerWriter writer{endpoints.output_of(endpoints.output), endpoints.writing, timetable};
    const auto answer_events = [&](auto source) {
        auto events = graph.source(std::move(source), {.name = "events"});
        if (options.writes_input) return write_input(std::move(events), endpoints);
        if (options.layout == Layout::paper)
            return answer_in_papers_form(std::move(events), tolls, writer);
        auto timed = std::move(events)
                         .filter(WithoutTravelTimes{}, {.name = "dispatch"})
                         .event_time(TimeOf{}, MonotonousTime{}, {.name = "time"});
        if (options.layout == Layout::operators) {
            answer_by_operators(std::move(timed), tolls, writer);
        } else {
            answer_by_roads(std::move(timed).key_by(RoadOrCar{}).sealed(), tolls, writer);
        }
    };
    with_pace(source_of(endpoints, options), endpoints, options, timetable, answer_events);
}

}  // namespace strid::apps::linear_road
