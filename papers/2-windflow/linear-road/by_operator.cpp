// SPDX-License-Identifier: Apache-2.0
#include "by_operator.hpp"

#include <array>
#include <span>
#include <utility>

#include "accidents.hpp"
#include "answers.hpp"
#include "roads.hpp"
#include "statistics.hpp"
#include "tolls.hpp"

namespace strid::apps::linear_road {

namespace {

/// The branches of the events.
enum Way : std::size_t { to_speeds, to_accidents, to_tolls, to_questions, ways };

struct ChooseWays {
    std::span<const std::size_t> operator()(const Event& event) const noexcept {
        static constexpr std::array<std::size_t, 3> report{to_speeds, to_accidents, to_tolls};
        static constexpr std::array<std::size_t, 1> question{to_questions};
        if (event.kind == Kind::position) return report;
        return question;
    }
};

/// To be merged with the others at the tolls.
template <class Stream>
auto to_road(Stream stream, const char* name) {
    using T = typename Stream::record_type;
    return std::move(stream)
        .map([](const T& one) { return ReportOrStatistic{one}; }, {.name = name})
        .key_by(RoadOfEither{})
        .sealed();
}

}  // namespace

void answer_by_operators(StreamTimedBy<Event, TimeOf> events,
                         const CurrentTable<HistoryTable>& tolls, const AnswerWriter& writer) {
    auto by_way = std::move(events).split(ways, ChooseWays{});
    auto [for_velocities, for_counts] =
        by_way.select(to_speeds).key_by(car_of).apply(SpeedOfVisits{}, {.name = "speeds"}).tee<2>();
    const auto place_of_visit = [](const Visit& visit) { return visit.place; };
    auto velocities = std::move(for_velocities)
                          .key_by(place_of_visit)
                          .apply(Velocities{}, {.name = "velocities"});
    auto counts = std::move(for_counts).key_by(place_of_visit).apply(Counts{}, {.name = "counts"});
    auto accidents = by_way.select(to_accidents)
                         .key_by([](const Event& event) { return event.road(); })
                         .apply(Accidents{}, {.name = "accidents"});
    auto notices = to_road(by_way.select(to_tolls), "reports")
                       .merge(to_road(std::move(velocities), "velocities-to-road"))
                       .merge(to_road(std::move(counts), "counts-to-road"))
                       .merge(to_road(std::move(accidents), "accidents-to-road"))
                       .apply(Tolls{}, {.name = "tolls"});
    auto questions = by_way.select(to_questions).map(question_of, {.name = "questions"});
    answer(std::move(notices).timed_by(TimeOf{}).merge(std::move(questions).timed_by(TimeOf{})),
           tolls, writer);
}

}  // namespace strid::apps::linear_road
