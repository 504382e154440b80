// SPDX-License-Identifier: Apache-2.0
#include "linear_road.hpp"

#include <array>
#include <memory>
#include <utility>

#include <strid/base/error.hpp>

#include "accounts.hpp"
#include "event_replay.hpp"
#include "event_source.hpp"
#include "roads.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

namespace {

using Events = StreamTimedBy<Event, TimeOf>;
using Answers = Stream<Answer>;

/// The branches of the stream of events.
enum Branch : std::size_t { reports, balances, expenditures, branches };

struct ChooseBranch {
    Branch operator()(const Event& event) const noexcept {
        if (event.kind == Kind::position) [[likely]]
            return reports;
        return event.kind == Kind::balance ? balances : expenditures;
    }
};

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

std::uint32_t road_of(const Event& event) noexcept {
    return event.road();
}

Answer answer_of(const Notice& notice) noexcept {
    if (notice.kind == Notice::Kind::toll) {
        return {notice.time, notice.car, notice.toll, notice.velocity, Answer::Kind::toll};
    }
    return {notice.time, notice.car, 0, notice.segment, Answer::Kind::accident};
}

Answers balances_of(StreamTimedBy<Notice, TimeOf> charges, Events questions) {
    auto charged = std::move(charges)
                       .map(
                           [](const Notice& notice) {
                               return AccountEntry{notice.time, notice.car, notice.toll, 0};
                           },
                           {.name = "charges"})
                       .timed_by(TimeOf{})
                       .key_by<&AccountEntry::car>();
    auto asked = std::move(questions)
                     .map(
                         [](const Event& event) {
                             return AccountEntry{event.time, event.car, -1, event.query};
                         },
                         {.name = "questions"})
                     .timed_by(TimeOf{})
                     .key_by<&AccountEntry::car>();
    return std::move(charged).merge(std::move(asked)).apply(Accounts{}, {.name = "accounts"});
}

Answers expenditures_of(Events questions, const CurrentTable<HistoryTable>& history) {
    return std::move(questions).lookup(
        history,
        [](const Event& event) { return history_key(event.car, event.day, event.expressway); },
        [](const Event& event, const std::int64_t* toll) {
            return Answer{event.time, event.query, toll == nullptr ? 0 : *toll, 0,
                          Answer::Kind::expenditure};
        },
        {.name = "history"});
}

Answers answers_of(Events events, const CurrentTable<HistoryTable>& history) {
    auto by_kind = std::move(events).split(branches, ChooseBranch{});
    auto notices = by_kind.select(reports)
                       .key_by(road_of)
                       .apply(Roads{}, {.name = "roads"})
                       .timed_by(TimeOf{})
                       .split(2, [](const Notice& notice) -> std::size_t {
                           return notice.kind == Notice::Kind::charge ? 1 : 0;
                       });
    Answers told = notices.select(0).map(answer_of, {.name = "notices"});
    return std::move(told).merge(balances_of(notices.select(1), by_kind.select(balances)),
                                 expenditures_of(by_kind.select(expenditures), history));
}

void check(const Endpoints& endpoints, const Options& options) {
    if (options.pace == 0) return;
    if (endpoints.rate_per_second > 0) throw GraphError("--pace and --rate exclude each other");
    if (endpoints.replays()) throw GraphError("--pace and --duration exclude each other");
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           const CurrentTable<HistoryTable>& history) {
    check(endpoints, options);
    const auto timetable = options.pace > 0 ? std::make_shared<Timetable>(options.pace) : nullptr;
    const auto write = [&](auto source) {
        auto events = graph.source(std::move(source), {.name = "events"});
        if (options.writes_input) {
            std::move(events).sink(EventWriter{endpoints.output, endpoints.writing},
                                   {.name = "write"});
            return;
        }
        Events timed = std::move(events)
                           .filter(WithoutTravelTimes{}, {.name = "dispatch"})
                           .event_time(TimeOf{}, MonotonousTime{}, {.name = "time"});
        answers_of(std::move(timed), history)
            .sink(AnswerWriter{endpoints.output_of(endpoints.output), endpoints.writing, timetable},
                  {.name = "write"});
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
