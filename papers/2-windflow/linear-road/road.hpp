// SPDX-License-Identifier: Apache-2.0
//
// One direction of one expressway: its cars, its accidents, and the statistics of its segments
// (README.md, rules 1 to 10). Statistics of a minute count in the next ones only, so that
// what cars are notified of depends on the order of the road's own reports alone.
//
// State: a car is kept for two minutes behind that of its last report, and until the table is full
// the next time; segments and minutes are fixed in number. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "car_table.hpp"
#include "records.hpp"
#include "rules.hpp"

namespace strid::apps::linear_road {

class Road {
  public:
    explicit Road(bool segments_grow) noexcept : segments_grow_(segments_grow) {}

    /// Takes a report of the road in; `notify(Notice)` is called for what it sets off: a charge
    /// first, then a toll, then an accident. Times do not go back. O(1), and O(segments) for the
    /// first report of a minute.
    template <class Notify>
    [[gnu::always_inline]] void report(const Event& event, Notify&& notify) {
        const std::int32_t minute = event.time / 60;
        if (minute != minute_) [[unlikely]]
            go_to(minute);
        if (cars_.is_full()) [[unlikely]]
            forget_cars();
        const auto [car, is_new] = cars_.find_or_make(event.car);
        const bool goes_on = !is_new && minute - car.minute <= minutes_of_silence;
        const bool stays = goes_on && car.segment == event.segment;
        if (stays && car.minute == minute) {
            revise_visit(car, event);
        } else {
            begin_visit(car, event);
        }
        if (stays && car.position == event.position && car.lane == event.lane) {
            if (car.repeats < reports_of_stop && ++car.repeats == reports_of_stop) [[unlikely]]
                stop(event);
        } else {
            if (goes_on && car.repeats == reports_of_stop) [[unlikely]]
                go(event.car, car);
            car.repeats = 1;
        }
        car.minute = minute;
        car.position = event.position;
        car.lane = event.lane;
        if (stays) return;
        if (goes_on && car.toll_cars != 0) [[unlikely]]
            notify(Notice{event.time, event.car, toll_of(car.toll_cars), 0, Notice::Kind::charge});
        car.segment = event.segment;
        car.toll_cars = 0;
        if (event.lane == exit_lane) return;
        const Conditions& conditions = conditions_[event.segment];
        car.toll_cars = conditions.toll_cars;
        notify(Notice{event.time, event.car, toll_of(conditions.toll_cars), conditions.velocity,
                      Notice::Kind::toll});
        if (conditions.accident != no_accident) [[unlikely]]
            notify(Notice{event.time, event.car, 0, conditions.accident, Notice::Kind::accident});
    }

    /// Asks for the memory that report() will need.
    void prefetch(const Event& event) const noexcept { cars_.prefetch(event.car); }

    auto state() {
        return std::tie(minute_, cars_, conditions_, traffic_, accidents_, cars_before_, averages_,
                        stopped_, stopped_at_);
    }
    [[nodiscard]] std::size_t cars() const noexcept { return cars_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return sizeof(*this) + cars_.bytes(); }

  private:
    static constexpr std::uint8_t no_accident = 255;
    static constexpr std::int64_t unknown = -1;

    struct Car {
        std::int32_t minute;      // of the last report
        std::int32_t position;    // of it
        std::uint32_t speeds;     // of the visit: their sum
        std::uint32_t reports;    // of the visit
        std::uint32_t toll_cars;  // above the free ones, of the pending toll; 0: none
        std::uint8_t segment;
        std::uint8_t lane;
        std::uint8_t repeats;  // reports from here, up to those of a stop
    };
    struct Traffic {  // of a segment in the running minute
        std::int64_t speeds = 0;
        std::uint32_t cars = 0;
    };
    struct Conditions {  // for cars that enter a segment in the running minute
        std::uint32_t toll_cars = 0;
        std::uint8_t velocity = 0;
        std::uint8_t accident = no_accident;
    };
    using Averages = std::array<std::int64_t, segments>;
    using Segments = std::bitset<segments>;
    using Place = std::uint64_t;

    [[nodiscard]] static std::int64_t toll_of(std::uint32_t toll_cars) noexcept {
        return 2 * static_cast<std::int64_t>(toll_cars) * toll_cars;
    }
    [[nodiscard]] static std::int64_t mean_of(const Car& car) noexcept {
        const std::int64_t speeds = car.speeds;
        if (car.reports == 1) return speeds * speed_unit;
        if (car.reports == 2) return speeds * (speed_unit / 2);
        return speeds * speed_unit / car.reports;
    }
    [[nodiscard]] static Place place_of(std::uint8_t lane, std::uint8_t segment,
                                        std::int32_t position) noexcept {
        return static_cast<Place>(lane) << 40 | static_cast<Place>(segment) << 32 |
               static_cast<std::uint32_t>(position);
    }

    void revise_visit(Car& car, const Event& event) noexcept {
        Traffic& traffic = traffic_[event.segment];
        traffic.speeds -= mean_of(car);
        car.speeds += event.speed;
        ++car.reports;
        traffic.speeds += mean_of(car);
    }
    void begin_visit(Car& car, const Event& event) noexcept {
        Traffic& traffic = traffic_[event.segment];
        car.speeds = event.speed;
        car.reports = 1;
        traffic.speeds += mean_of(car);
        ++traffic.cars;
    }

    void go_to(std::int32_t minute);
    void begin_minute(std::int32_t minute);
    void forget_traffic() noexcept;
    void update_conditions() noexcept;
    void forget_cars();
    void stop(const Event& event);
    void go(std::int32_t number, const Car& car);

    bool segments_grow_;
    std::int32_t minute_ = -1;  // the running one
    CarTable<Car> cars_;
    std::array<Conditions, segments> conditions_;
    std::array<Traffic, segments> traffic_;
    Segments accidents_;                                          // at the start of the minute
    std::array<std::uint32_t, segments> cars_before_{};           // in the minute before
    std::array<Averages, minutes_of_velocity> averages_{};        // by minute, in a ring
    boost::unordered_flat_set<std::int32_t> stopped_;             // cars
    boost::unordered_flat_map<Place, std::uint32_t> stopped_at_;  // how many of them
};

}  // namespace strid::apps::linear_road
