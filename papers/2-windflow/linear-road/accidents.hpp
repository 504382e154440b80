// SPDX-License-Identifier: Apache-2.0
//
// Rules 5 and 6 as an operator of `--layout operators`, behind a key by road: the segments that
// have an accident at the start of a minute, for those that enter in it. A road goes to a minute
// with its own reports or with the watermark, whichever comes first.
//
// State: the cars of the last three minutes. Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/operator/contract.hpp>

#include "rules.hpp"
#include "statistics.hpp"

namespace strid::apps::linear_road {

class Accidents : public OperatorTypes<message::Hashed<Event>, Statistic> {
  public:
    static constexpr OperatorTraits traits{.kind = "accidents",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<Event>& arrived, auto& /*emit*/) {
        const Event& event = arrived.record;
        Road& road = roads_[event.road()];
        go_to(road, event.time / 60);
        Car& car = road.cars[event.car];
        const Place place{event.lane, place_of(event), event.position};
        const bool goes_on = car.reports > 0 && event.time / 60 - car.minute <= minutes_of_silence;
        if (goes_on && car.place == place) {
            ++car.reports;
        } else {
            if (goes_on && car.reports >= reports_of_stop) leave(road, car.place);
            car = {place, 1, 0};
        }
        car.minute = event.time / 60;
        if (car.reports == reports_of_stop) ++road.stopped[place];
    }
    bool on(Watermark watermark, auto& emit) {
        const std::int32_t minute = minute_of(watermark.time);
        for (auto& [number, road] : roads_) go_to(road, minute);
        return emit_waiting(waiting_, emit);
    }
    bool on(Ended, auto& emit) { return emit_waiting(waiting_, emit); }
    auto state() { return std::tie(roads_, waiting_); }

  private:
    using Place = std::tuple<std::uint8_t, std::uint32_t, std::int32_t>;  // lane, segment, position
    struct Car {
        Place place;
        std::int64_t reports = 0;  // from there, one behind the other
        std::int32_t minute = 0;
    };
    struct Road {
        std::int32_t minute = -1;
        boost::unordered_flat_map<std::int32_t, Car> cars;
        std::map<Place, std::int32_t> stopped;  // how many cars
    };

    static void leave(Road& road, const Place& place) {
        const auto at = road.stopped.find(place);
        if (--at->second == 0) road.stopped.erase(at);
    }
    /// Begins each minute up to that one: cars that have left go, accidents that are still there
    /// are reported. Without cars nothing is to be done, so that a long silence costs nothing.
    void go_to(Road& road, std::int32_t minute) {
        while (road.minute < minute) {
            if (road.cars.empty()) {
                road.minute = minute;
                return;
            }
            const std::int32_t now = ++road.minute;
            boost::unordered::erase_if(road.cars, [&](const auto& entry) {
                const Car& car = entry.second;
                if (now - car.minute <= minutes_of_silence) return false;
                if (car.reports >= reports_of_stop) leave(road, car.place);
                return true;
            });
            for (const auto& [place, cars] : road.stopped) {
                if (cars < 2) continue;
                waiting_.push_back({now, std::get<1>(place), 1, Statistic::Kind::accident});
            }
        }
    }

    std::map<std::uint32_t, Road> roads_;
    std::vector<Statistic> waiting_;
};

}  // namespace strid::apps::linear_road
