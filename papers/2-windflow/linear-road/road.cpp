// SPDX-License-Identifier: Apache-2.0
#include "road.hpp"

namespace strid::apps::linear_road {

void Road::go_to(std::int32_t minute) {
    // Behind a longer silence nothing of before counts any more.
    if (minute_ < 0 || minute - minute_ > minutes_of_velocity + 1) {
        forget_traffic();
        minute_ = minute;
    }
    while (minute_ < minute) begin_minute(minute_ + 1);
    update_conditions();
}

void Road::forget_traffic() noexcept {
    traffic_ = {};
    accidents_.reset();
    cars_before_ = {};
    for (Averages& averages : averages_) averages.fill(unknown);
    stopped_.clear();
    stopped_at_.clear();
}

void Road::begin_minute(std::int32_t minute) {
    Averages& averages = averages_[static_cast<std::size_t>(minute_ % minutes_of_velocity)];
    for (std::size_t i = 0; i < traffic_.size(); ++i) {
        const Traffic& traffic = traffic_[i];
        averages[i] = traffic.cars == 0 ? unknown : traffic.speeds / traffic.cars;
        cars_before_[i] = traffic.cars;
    }
    traffic_ = {};
    minute_ = minute;
    accidents_.reset();
    for (auto at = stopped_.begin(); at != stopped_.end();) {
        const std::int32_t number = *at++;
        const Car& car = cars_.at(number);
        if (minute - car.minute > minutes_of_silence) go(number, car);
    }
    for (const auto& [place, cars] : stopped_at_) {
        if (cars >= 2) accidents_.set((place >> 32) & 0xff);
    }
}

void Road::update_conditions() noexcept {
    for (std::int32_t segment = 0; segment < segments; ++segment) {
        const auto here = static_cast<std::size_t>(segment);
        Conditions& conditions = conditions_[here];
        conditions = {};
        for (std::int32_t i = 0; i < segments_ahead && conditions.accident == no_accident; ++i) {
            const std::int32_t ahead = segments_grow_ ? segment + i : segment - i;
            if (ahead < 0 || ahead >= segments) break;
            if (accidents_[static_cast<std::size_t>(ahead)]) {
                conditions.accident = static_cast<std::uint8_t>(ahead);
            }
        }
        std::int64_t sum = 0;
        std::int64_t known = 0;
        for (const Averages& averages : averages_) {
            if (averages[here] == unknown) continue;
            sum += averages[here];
            ++known;
        }
        const std::int64_t velocity = known == 0 ? 0 : sum / known;
        conditions.velocity = static_cast<std::uint8_t>(velocity / speed_unit);
        if (velocity < velocity_without_toll && cars_before_[here] > cars_without_toll &&
            conditions.accident == no_accident) {
            conditions.toll_cars = cars_before_[here] - cars_without_toll;
        }
    }
}

void Road::forget_cars() {
    cars_.rebuild([this](const Car& car) { return minute_ - car.minute <= minutes_of_silence; });
}

void Road::stop(const Event& event) {
    stopped_.insert(event.car);
    ++stopped_at_[place_of(event.lane, event.segment, event.position)];
}

void Road::go(std::int32_t number, const Car& car) {
    stopped_.erase(number);
    const auto at = stopped_at_.find(place_of(car.lane, car.segment, car.position));
    if (--at->second == 0) stopped_at_.erase(at);
}

}  // namespace strid::apps::linear_road
