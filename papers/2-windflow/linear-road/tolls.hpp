// SPDX-License-Identifier: Apache-2.0
//
// Rules 7 to 10 as an operator of `--layout operators`, behind a key by road: reports and
// statistics come by different ways, and a report waits until the watermark says that all
// statistics of its minute are there. Reports go on in the order in which they came.
//
// State: the cars of the last three minutes, statistics of the minutes at hand, and the reports
// that wait: what one way is ahead of the others, which the bounds of the links limit. Threads:
// only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <tuple>
#include <utility>
#include <variant>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/operator/contract.hpp>

#include "rules.hpp"
#include "statistics.hpp"

namespace strid::apps::linear_road {

using ReportOrStatistic = std::variant<Event, Statistic>;

/// Where either goes.
struct RoadOfEither {
    std::uint32_t operator()(const ReportOrStatistic& either) const noexcept {
        return std::visit([](const auto& one) { return one.road(); }, either);
    }
};

class Tolls : public OperatorTypes<message::Hashed<ReportOrStatistic>, Notice> {
  public:
    static constexpr OperatorTraits traits{.kind = "tolls",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<ReportOrStatistic>& arrived, auto& /*emit*/) {
        if (const auto* event = std::get_if<Event>(&arrived.record)) {
            waiting_.push_back(*event);
        } else {
            take(std::get<Statistic>(arrived.record));
        }
    }
    bool on(Watermark watermark, auto& emit) { return handle(minute_of(watermark.time), emit); }
    bool on(Ended, auto& emit) { return handle(1 << 30, emit); }
    auto state() { return std::tie(conditions_, cars_, waiting_, minute_); }

  private:
    struct Conditions {
        std::int64_t velocity = 0;
        std::int64_t cars = 0;
        bool accident = false;
    };
    using Key = std::pair<std::int32_t, std::uint32_t>;  // minute, segment of a road
    struct Car {
        std::int32_t minute = 0;
        std::int32_t segment = -1;
        std::int64_t toll = 0;  // pending
    };

    void take(const Statistic& statistic) {
        Conditions& conditions = conditions_[{statistic.minute, statistic.place}];
        switch (statistic.kind) {
            case Statistic::Kind::velocity:
                conditions.velocity = statistic.value;
                break;
            case Statistic::Kind::cars:
                conditions.cars = statistic.value;
                break;
            case Statistic::Kind::accident:
                conditions.accident = true;
                break;
        }
    }
    /// Handles the reports of minutes up to that one.
    bool handle(std::int32_t minute, auto& emit) {
        while (!waiting_.empty() && waiting_.front().time / 60 <= minute) {
            if (!emit.room()) return false;
            const Event event = waiting_.front();
            waiting_.pop_front();
            if (event.time / 60 > minute_) go_to(event.time / 60);
            report(event, emit);
        }
        return true;
    }
    void go_to(std::int32_t minute) {
        minute_ = minute;
        boost::unordered::erase_if(conditions_,
                                   [=](const auto& entry) { return entry.first.first < minute; });
        boost::unordered::erase_if(cars_, [=](const auto& entry) {
            return minute - entry.second.minute > minutes_of_silence;
        });
    }
    void report(const Event& event, auto& emit) {
        Car& car = cars_[car_of(event)];
        car.minute = minute_;
        if (car.segment == event.segment) return;
        car.segment = event.segment;
        if (car.toll > 0) {
            emit(Notice{event.time, event.car, car.toll, 0, Notice::Kind::charge});
        }
        car.toll = 0;
        if (event.lane == exit_lane) return;
        const Conditions here = conditions_of(place_of(event));
        const std::int32_t accident = accident_ahead(event);
        const std::int64_t above = here.cars - cars_without_toll;
        if (here.velocity < velocity_without_toll && above > 0 && accident < 0) {
            car.toll = 2 * above * above;
        }
        emit(Notice{event.time, event.car, car.toll,
                    static_cast<std::int32_t>(here.velocity / speed_unit), Notice::Kind::toll});
        if (accident >= 0) {
            emit(Notice{event.time, event.car, 0, accident, Notice::Kind::accident});
        }
    }
    [[nodiscard]] Conditions conditions_of(std::uint32_t place) const {
        const auto at = conditions_.find({minute_, place});
        return at == conditions_.end() ? Conditions{} : at->second;
    }
    /// The nearest segment with one, from that of the report on; -1: none.
    [[nodiscard]] std::int32_t accident_ahead(const Event& event) const {
        for (std::int32_t i = 0; i < segments_ahead; ++i) {
            const std::int32_t segment = event.segment + (event.direction == 0 ? i : -i);
            if (segment < 0 || segment >= segments) break;
            const auto place = event.road() * segments + static_cast<std::uint32_t>(segment);
            if (conditions_of(place).accident) return segment;
        }
        return -1;
    }

    boost::unordered_flat_map<Key, Conditions, boost::hash<Key>> conditions_;
    boost::unordered_flat_map<std::uint64_t, Car> cars_;
    std::deque<Event> waiting_;
    std::int32_t minute_ = -1;
};

}  // namespace strid::apps::linear_road
