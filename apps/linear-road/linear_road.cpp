// SPDX-License-Identifier: Apache-2.0
#include "linear_road.hpp"

#include <array>
#include <memory>
#include <utility>

#include <strid/base/error.hpp>

#include "answers.hpp"
#include "by_operator.hpp"
#include "event_replay.hpp"
#include "event_source.hpp"
#include "roads.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

namespace {

/// Takes the questions for travel times out.
class WithoutTravelTimes {
  public:
    void open(const Context& context) { asked_ = context.counter("travel times asked"); }
    bool operator()(const Event& event) {
        if (event.kind != Kind::travel_time) [[likely]]
            return true;
        asked_.add();
        return false;
    }

  private:
    Counter asked_;
};

void check(const Endpoints& endpoints, const Options& options) {
    if (options.pace < 0) throw GraphError("--pace must not be negative");
    if (options.pace == 0) return;
    if (endpoints.rate_per_second > 0) throw GraphError("--pace and --rate exclude each other");
    if (endpoints.replays()) throw GraphError("--pace and --duration exclude each other");
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           const CurrentTable<HistoryTable>& tolls) {
    check(endpoints, options);
    const auto timetable = options.pace > 0 ? std::make_shared<Timetable>(options.pace) : nullptr;
    const auto write = [&](auto source) {
        auto events = graph.source(std::move(source), {.name = "events"});
        if (options.writes_input) {
            std::move(events).sink(EventWriter{endpoints.output, endpoints.writing},
                                   {.name = "write"});
            return;
        }
        const AnswerWriter writer{endpoints.output_of(endpoints.output), endpoints.writing,
                                  timetable};
        auto timed = std::move(events)
                         .filter(WithoutTravelTimes{}, {.name = "dispatch"})
                         .event_time(TimeOf{}, MonotonousTime{}, {.name = "time"});
        if (options.layout == Layout::operators) {
            return answer_by_operators(std::move(timed), tolls, writer);
        }
        answer(std::move(timed)
                   .key_by(place_of_work)
                   .apply(Roads{}, {.name = "roads"})
                   .timed_by(TimeOf{}),
               tolls, writer);
    };
    const auto with_pace = [&](auto source) {
        const double rate = endpoints.rate_per_second;
        if (endpoints.replays()) {
            EventReplay replayed{std::move(source), endpoints.duration};
            if (rate > 0) return write(paced(std::move(replayed), rate));
            return write(std::move(replayed));
        }
        if (timetable) return write(OnTime{std::move(source), timetable});
        if (rate > 0) return write(paced(std::move(source), rate));
        write(std::move(source));
    };
    if (options.makes_traffic || endpoints.generate > 0) {
        TrafficOptions traffic = options.traffic;
        traffic.count_max = endpoints.generate;
        traffic.seed = endpoints.seed;
        return with_pace(TrafficSource{traffic});
    }
    with_pace(
        EventSource{endpoints.input,
                    {.on_malformed = endpoints.on_malformed, .dead_letter = endpoints.dead_letter},
                    options.expressways == 0 ? expressways_max : options.expressways});
}

}  // namespace strid::apps::linear_road
