// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::apps::linear_road {

namespace {

constexpr std::int32_t feet_of_segment = 5'280;
constexpr std::int32_t feet_of_report = 44;  // in 30 seconds, at a mile an hour
constexpr std::uint8_t entry_lane = 0;
constexpr std::uint64_t travel_lanes = 3;
constexpr std::size_t cars_that_come_back = 4'096;

/// Miles an hour at so many cars in a segment: 65 where it is empty, 40 with 40, 20 with 120.
std::int32_t speed_at(std::int32_t density) noexcept {
    const double load = density / 40.0;
    return 15 + static_cast<std::int32_t>(50.0 / (1.0 + load * load));
}

std::uint8_t segment_at(std::int32_t position) noexcept {
    return static_cast<std::uint8_t>(position / feet_of_segment);
}

}  // namespace

Expressway::Expressway(const TrafficOptions& options, std::int32_t number)
    : options_(options),
      number_(number),
      random_(options.seed, static_cast<std::uint64_t>(number)),
      next_accident_(60 + static_cast<std::int32_t>(
                              random_.below(static_cast<std::uint64_t>(options.accident_every)))) {}

void Expressway::make(std::int32_t second, std::vector<Event>& events) {
    for (std::uint8_t direction = 0; direction < 2; ++direction) {
        drive(second, direction, events);
        enter(second, direction, events);
    }
    if (second >= next_accident_) crash(second);
}

void Expressway::drive(std::int32_t second, std::uint8_t direction, std::vector<Event>& events) {
    auto& drivers =
        directions_[direction].drivers[static_cast<std::size_t>(second % seconds_of_report)];
    for (std::size_t i = 0; i < drivers.size();) {
        std::int32_t speed = 0;
        const bool stays = move(second, direction, drivers[i], speed);
        report(second, direction, drivers[i], speed, events);
        if (stays) {
            ++i;
            continue;
        }
        if (left_.size() < cars_that_come_back) left_.push_back(drivers[i].car);
        drivers[i] = drivers.back();
        drivers.pop_back();
    }
}

/// False: this is its last report, from the exit lane.
bool Expressway::move(std::int32_t second, std::uint8_t direction, Driver& driver,
                      std::int32_t& speed) {
    Direction& road = directions_[direction];
    if (second < driver.stopped_until) return true;
    const std::uint8_t from = segment_at(driver.position);
    speed = speed_at(road.density[from]) + static_cast<std::int32_t>(random_.below(13)) - 6;
    if (second < road.accident_until && from == road.accident_segment) speed /= 3;
    speed = std::clamp(speed, 1, 100);
    const std::int32_t way = speed * feet_of_report;
    --road.density[from];
    const std::int32_t exit_begin = driver.exit_segment * feet_of_segment;
    const std::int32_t exit_end = exit_begin + feet_of_segment - 1;
    driver.position = direction == 0 ? std::min(driver.position + way, exit_end)
                                     : std::max(driver.position - way, exit_begin);
    if (segment_at(driver.position) == driver.exit_segment) {
        driver.lane = exit_lane;
        return false;
    }
    ++road.density[segment_at(driver.position)];
    if (driver.lane == entry_lane || random_.below(10) == 0) {
        driver.lane = static_cast<std::uint8_t>(1 + random_.below(travel_lanes));
    }
    return true;
}

void Expressway::enter(std::int32_t second, std::uint8_t direction, std::vector<Event>& events) {
    Direction& road = directions_[direction];
    auto& drivers = road.drivers[static_cast<std::size_t>(second % seconds_of_report)];
    // From 2 % on: the cars of a direction that report in this second.
    const double share = 0.02 + 0.98 * (second + 1) / options_.seconds;
    const auto wanted =
        static_cast<std::size_t>(share * options_.cars / 2 / seconds_of_report + 0.5);
    // So many are away at the least that none comes back in the second in which it left.
    const std::size_t cars_away =
        std::min(cars_that_come_back - 1, 64 + static_cast<std::size_t>(options_.cars) / 20);
    while (drivers.size() < wanted) {
        // Three cars in four enter downtown, eight segments around the middle.
        const std::int32_t ahead = static_cast<std::int32_t>(
            random_.below(4) != 0 ? 46 + random_.below(8) : random_.below(segments - 2));
        const std::int32_t length =
            2 + static_cast<std::int32_t>(random_.below(
                    static_cast<std::uint64_t>(std::min(segments - 2 - ahead + 1, 30))));
        const std::int32_t last = std::min(ahead + length, segments - 1);
        const std::int32_t entry = direction == 0 ? ahead : segments - 1 - ahead;
        Driver driver{};
        if (left_.size() > cars_away && random_.below(10) == 0) {
            driver.car = left_.front();
            left_.erase(left_.begin());
        } else {
            driver.car = next_number(cars_);
        }
        driver.exit_segment =
            static_cast<std::uint8_t>(direction == 0 ? last : segments - 1 - last);
        driver.position =
            entry * feet_of_segment + static_cast<std::int32_t>(random_.below(feet_of_segment));
        driver.lane = entry_lane;
        ++road.density[static_cast<std::size_t>(entry)];
        report(second, direction, driver, 10 + static_cast<std::int32_t>(random_.below(31)),
               events);
        drivers.push_back(driver);
    }
}

/// A car of a direction stops, and another one at the same place.
void Expressway::crash(std::int32_t second) {
    const std::size_t direction = random_.below(2);
    Direction& road = directions_[direction];
    const auto reported = static_cast<std::size_t>(second % seconds_of_report);
    auto& first = road.drivers[reported];
    auto& others =
        road.drivers[(reported + 1 + random_.below(seconds_of_report - 1)) % seconds_of_report];
    if (first.empty() || others.empty()) return;
    Driver& one = first[random_.below(first.size())];
    Driver& other = others[random_.below(others.size())];
    if (one.lane == entry_lane || one.lane == exit_lane || one.stopped_until > second) return;
    const std::int32_t lasts = 180 + static_cast<std::int32_t>(random_.below(300));
    one.stopped_until = other.stopped_until = second + lasts;
    --road.density[segment_at(other.position)];
    other.position = one.position;
    other.lane = one.lane;
    // It has to be on its way to an exit that is not behind it.
    other.exit_segment = one.exit_segment;
    ++road.density[segment_at(other.position)];
    road.accident_segment = segment_at(one.position);
    road.accident_until = second + lasts;
    next_accident_ = second + lasts +
                     static_cast<std::int32_t>(
                         random_.below(static_cast<std::uint64_t>(options_.accident_every)));
}

void Expressway::report(std::int32_t second, std::uint8_t direction, const Driver& driver,
                        std::int32_t speed, std::vector<Event>& events) {
    Event event{};
    event.time = second;
    event.car = driver.car;
    event.position = driver.position;
    event.expressway = static_cast<std::uint16_t>(number_);
    event.kind = Kind::position;
    event.speed = static_cast<std::uint8_t>(speed);
    event.lane = driver.lane;
    event.direction = direction;
    event.segment = segment_at(driver.position);
    events.push_back(event);
    if (random_.below(100) == 0) ask(second, driver.car, events);
}

/// Of ten questions five are for a balance, one for an expenditure and four for a travel time; one
/// in fifty balances is that of a car that has never driven.
void Expressway::ask(std::int32_t second, std::int32_t car, std::vector<Event>& events) {
    Event event{};
    event.time = second;
    event.car = car;
    event.query = next_number(questions_);
    event.expressway = static_cast<std::uint16_t>(number_);
    const std::uint64_t which = random_.below(10);
    if (which < 5) {
        event.kind = Kind::balance;
        if (random_.below(50) == 0) event.car = std::numeric_limits<std::int32_t>::max();
    } else if (which == 5) {
        event.kind = Kind::expenditure;
        event.day = static_cast<std::uint8_t>(1 + random_.below(days_max));
    } else {
        event.kind = Kind::travel_time;
    }
    events.push_back(event);
}

/// Numbers of different expressways are different.
std::int32_t Expressway::next_number(std::int32_t& count) const noexcept {
    return count++ * options_.expressways + number_;
}

TrafficSource::TrafficSource(const TrafficOptions& options) : options_(options) {
    // A car stays for a minute at the least, so that this many enter at the most.
    const double entering = options.cars * (1.0 + options.seconds / 60.0);
    if (entering * options.expressways >= std::numeric_limits<std::int32_t>::max()) {
        throw GraphError(fmt::format(
            "{} expressways with {} cars for {} minutes have more cars than there are numbers",
            options.expressways, options.cars, options.seconds / 60));
    }
}

void TrafficSource::on(const Opened& opened) {
    expressways_.clear();
    made_.clear();
    stopped_.store(0);
    next_ = next_expressway_ = 0;
    second_ = 0;
    count_ = 0;
    const std::size_t replicas = replicas_used(opened.context.parallelism);
    replica_ = opened.context.replica;
    in_step_->begin(replica_, opened.context.parallelism, replica_ < replicas);
    if (replica_ >= replicas) return;
    const auto step = static_cast<std::int32_t>(replicas);
    for (auto i = static_cast<std::int32_t>(replica_); i < options_.expressways; i += step) {
        expressways_.emplace_back(options_, i);
    }
}

bool TrafficSource::make_some() {
    made_.clear();
    next_ = 0;
    if (expressways_.empty()) return false;
    while (made_.empty()) {
        if (next_expressway_ == expressways_.size()) {
            next_expressway_ = 0;
            ++second_;
            fraction_done_.store(static_cast<double>(second_) / options_.seconds);
        }
        if (second_ >= options_.seconds) return false;
        expressways_[next_expressway_++].make(second_, made_);
    }
    if (options_.count_max == 0) return true;
    made_.resize(std::min(made_.size(), options_.count_max - count_));
    count_ += made_.size();
    return !made_.empty();
}

}  // namespace strid::apps::linear_road
