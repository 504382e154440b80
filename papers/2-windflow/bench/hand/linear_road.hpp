// SPDX-License-Identifier: Apache-2.0
//
// Linear Road by hand: one thread, a table of cars for each road, no engine. The rules are those of
// papers/2-windflow/linear-road/README.md. An event is 20 bytes in memory.
#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "bench/hand/replay.hpp"

namespace strid::bench::hand {

struct RoadEvent {
    std::int32_t time;
    std::int32_t car;
    std::int32_t position;  // or number of the question
    std::int32_t road;      // 2 * expressway + direction
    std::uint8_t type;
    std::uint8_t speed;
    std::uint8_t lane;
    std::uint8_t segment;  // or day
};

struct RoadAnswer {
    std::int32_t type;
    std::int32_t time;
    std::int32_t subject;  // car or question
    std::int32_t detail;   // velocity, segment, or time of the balance's change
    std::int64_t amount;   // toll, balance or expenditure
};

/// Reads lines of the benchmark.
inline std::vector<RoadEvent> load_road_events(const std::string& path) {
    const std::string text = read_file(path);
    std::vector<RoadEvent> events;
    for (std::string_view line : split_lines(text)) {
        std::array<std::int32_t, 15> cells{};
        for (std::int32_t& cell : cells) cell = parse_number<std::int32_t>(next_field(line));
        const auto small = [&cells](std::size_t i) { return static_cast<std::uint8_t>(cells[i]); };
        const bool is_report = cells[0] == 0;
        events.push_back({cells[1], cells[2], is_report ? cells[8] : cells[9],
                          cells[4] * 2 + (is_report ? cells[6] : 0), small(0), small(3), small(5),
                          is_report ? small(7) : small(14)});
    }
    return events;
}

class HandRoad {
  public:
    explicit HandRoad(int step) : step_(step) {}

    /// `charge(car, time, toll)`, `answer(RoadAnswer)`.
    template <class Charge, class Answered>
    void report(const RoadEvent& event, Charge&& charge, Answered&& answer) {
        const std::int32_t minute = event.time / 60;
        if (minute != minute_) go_to(minute);
        auto [at, fresh] = cars_.try_emplace(event.car);
        Car& car = at->second;
        const bool known = !fresh && minute - car.minute <= 2;
        const bool same_segment = known && car.segment == event.segment;
        Now& now = now_[event.segment];
        if (same_segment && car.minute == minute) {
            now.speeds -= car.mean();
            car.speeds += event.speed;
            ++car.reports;
        } else {
            car.speeds = event.speed;
            car.reports = 1;
            ++now.cars;
        }
        now.speeds += car.mean();
        const bool same_place =
            same_segment && car.position == event.position && car.lane == event.lane;
        if (same_place) {
            if (car.stops < 4 && ++car.stops == 4) stop(event);
        } else {
            if (known && car.stops == 4) leave(event.car, car);
            car.stops = 1;
        }
        const std::uint32_t pending = known ? car.pending : 0;
        car.minute = minute;
        car.position = event.position;
        car.lane = event.lane;
        if (same_segment) return;
        car.segment = event.segment;
        if (pending > 0) charge(event.car, event.time, toll(pending));
        car.pending = 0;
        if (event.lane == 4) return;
        const Notice& notice = notices_[event.segment];
        car.pending = notice.paying_cars;
        answer(RoadAnswer{0, event.time, event.car, notice.velocity, toll(car.pending)});
        if (notice.accident >= 0) {
            answer(RoadAnswer{1, event.time, event.car, notice.accident, 0});
        }
    }

  private:
    static constexpr std::int64_t mile = 2520;

    struct Car {
        std::int32_t minute;
        std::int32_t position;
        std::uint32_t speeds;
        std::uint32_t reports;
        std::uint32_t pending;  // cars that pay the toll which is pending
        std::uint8_t segment;
        std::uint8_t lane;
        std::uint8_t stops;

        [[nodiscard]] std::int64_t mean() const noexcept {
            if (reports == 1) return speeds * mile;
            if (reports == 2) return speeds * (mile / 2);
            return speeds * mile / reports;
        }
    };
    struct Now {
        std::int64_t speeds = 0;
        std::int64_t cars = 0;
    };
    struct Past {
        std::int64_t speed = -1;
        std::int64_t cars = 0;
        bool accident = false;
    };
    struct Notice {
        std::uint32_t paying_cars = 0;
        std::int32_t velocity = 0;
        std::int32_t accident = -1;
    };
    using Place = std::tuple<std::uint8_t, std::uint8_t, std::int32_t>;

    static std::int64_t toll(std::uint32_t cars) noexcept {
        return 2 * static_cast<std::int64_t>(cars) * cars;
    }
    static Place place_of(std::uint8_t lane, std::uint8_t segment, std::int32_t position) {
        return {lane, segment, position};
    }

    void stop(const RoadEvent& event) {
        auto& there = stopped_[place_of(event.lane, event.segment, event.position)];
        there.push_back(event.car);
        if (there.size() >= 2) accidents_[event.segment] = true;
    }
    void leave(std::int32_t number, const Car& car) {
        const auto at = stopped_.find(place_of(car.lane, car.segment, car.position));
        std::erase(at->second, number);
        if (at->second.empty()) stopped_.erase(at);
    }

    void go_to(std::int32_t minute) {
        if (minute_ < 0 || minute - minute_ > 6) {
            past_ = {};
            now_ = {};
            accidents_ = {};
            stopped_.clear();
            minute_ = minute;
        }
        while (minute_ != minute) next_minute();
        for (int segment = 0; segment < 100; ++segment) notices_[index(segment)] = notice(segment);
        if (cars_.size() < cars_to_look_at_) return;
        boost::unordered::erase_if(
            cars_, [minute](const auto& entry) { return minute - entry.second.minute > 2; });
        cars_to_look_at_ = std::max<std::size_t>(1024, 2 * cars_.size());
    }

    void next_minute() {
        auto& closed = past_[index(minute_ % 5)];
        for (std::size_t i = 0; i < 100; ++i) {
            const Now& now = now_[i];
            closed[i] = {now.cars == 0 ? -1 : now.speeds / now.cars, now.cars, accidents_[i]};
        }
        now_ = {};
        accidents_.reset();
        ++minute_;
        for (auto at = stopped_.begin(); at != stopped_.end();) {
            std::erase_if(at->second, [this](std::int32_t number) {
                return minute_ - cars_.find(number)->second.minute > 2;
            });
            if (at->second.size() >= 2) accidents_[std::get<1>(at->first)] = true;
            at = at->second.empty() ? stopped_.erase(at) : std::next(at);
        }
    }

    Notice notice(int segment) const {
        const auto& before = past_[index((minute_ + 4) % 5)];
        Notice notice;
        for (int ahead = 4; ahead >= 0; --ahead) {
            const int other = segment + step_ * ahead;
            if (other >= 0 && other < 100 && before[index(other)].accident) notice.accident = other;
        }
        std::int64_t speeds = 0;
        std::int64_t minutes = 0;
        for (const auto& one : past_) {
            if (one[index(segment)].speed < 0) continue;
            speeds += one[index(segment)].speed;
            ++minutes;
        }
        const std::int64_t velocity = minutes > 0 ? speeds / minutes : 0;
        notice.velocity = static_cast<std::int32_t>(velocity / mile);
        const std::int64_t cars = before[index(segment)].cars;
        if (velocity < 40 * mile && cars > 50 && notice.accident < 0) {
            notice.paying_cars = static_cast<std::uint32_t>(cars - 50);
        }
        return notice;
    }

    static std::size_t index(std::int32_t i) noexcept { return static_cast<std::size_t>(i); }

    int step_;  // from a segment to the next one
    std::int32_t minute_ = -1;
    boost::unordered_flat_map<std::int32_t, Car> cars_;
    std::array<Now, 100> now_{};
    std::array<std::array<Past, 100>, 5> past_{};
    std::array<Notice, 100> notices_{};
    std::bitset<100> accidents_;
    std::map<Place, std::vector<std::int32_t>> stopped_;
    std::size_t cars_to_look_at_ = 1024;
};

class LinearRoad {
  public:
    using History = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int64_t>;

    explicit LinearRoad(const History& history) : history_(history) {}

    template <class Answered>
    void take(const RoadEvent& event, Answered&& answer) {
        if (event.type == 0) {
            const auto number = static_cast<std::size_t>(event.road);
            if (number >= roads_.size()) roads_.resize(number + 1);
            auto& road = roads_[number];
            if (!road) road = std::make_unique<HandRoad>(number % 2 == 0 ? 1 : -1);
            road->report(
                event,
                [this](std::int32_t car, std::int32_t time, std::int64_t toll) {
                    Account& account = accounts_[car];
                    account.settle(time);
                    account.of_second += toll;
                },
                answer);
        } else if (event.type == 2) {
            Account account;
            const auto at = accounts_.find(event.car);
            if (at != accounts_.end()) {
                at->second.settle(event.time);
                account = at->second;
            }
            answer(RoadAnswer{2, event.time, event.position, account.changed, account.balance});
        } else if (event.type == 3) {
            const auto at = history_.find({event.car, event.segment, event.road / 2});
            answer(RoadAnswer{3, event.time, event.position, 0,
                              at == history_.end() ? 0 : at->second});
        }
    }

  private:
    struct Account {
        std::int64_t balance = 0;
        std::int64_t of_second = 0;  // charged in that second, and not in the balance yet
        std::int32_t second = 0;
        std::int32_t changed = 0;

        void settle(std::int32_t now) noexcept {
            if (now == second) return;
            if (of_second > 0) changed = second;
            balance += of_second;
            of_second = 0;
            second = now;
        }
    };

    const History& history_;
    std::vector<std::unique_ptr<HandRoad>> roads_;
    boost::unordered_flat_map<std::int32_t, Account> accounts_;
};

struct LinearRoadResult : ReplayResult {
    std::uint64_t answers = 0;
    std::int64_t checksum = 0;  // the last columns of all rows summed
};

/// Pass after pass as one long input; each goes on in the minute behind the one before.
inline LinearRoadResult run_linear_road(const std::vector<RoadEvent>& input,
                                        std::chrono::nanoseconds duration) {
    const LinearRoad::History history;
    LinearRoad roads(history);
    LinearRoadResult result;
    const std::int32_t span = input.empty() ? 0 : (input.back().time / 60 + 1) * 60;
    const RoadEvent* const first = input.data();
    std::int32_t shift = -span;
    static_cast<ReplayResult&>(result) = replay(input, duration, [&](const RoadEvent& one) {
        if (&one == first) shift += span;
        RoadEvent event = one;
        event.time += shift;
        roads.take(event, [&result](const RoadAnswer& answer) {
            keep_alive(answer);
            ++result.answers;
            result.checksum += answer.type == 1 ? answer.detail : answer.amount;
        });
    });
    return result;
}

}  // namespace strid::bench::hand
