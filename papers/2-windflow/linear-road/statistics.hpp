// SPDX-License-Identifier: Apache-2.0
//
// The parts of `--layout operators`: each rule an operator of its own, as in figure 11 of paper 2.
// The figures of one minute's reports are used in the next minute, and an operator publishes them
// at the latest when the watermark enters that minute: before the watermark itself goes on. So what
// waits for the watermark has all of it, whatever way it took.
//
// State: cars and segments of the last minutes. Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/operator/contract.hpp>

#include "records.hpp"
#include "rules.hpp"

namespace strid::apps::linear_road {

/// A car in a segment in a minute (rule 2).
struct Visit {
    std::int32_t time;  // of its last report
    std::uint32_t place;
    std::int64_t mean;
};

/// The figures for cars that enter a segment in a minute.
struct Statistic {
    enum class Kind : std::uint8_t { velocity, cars, accident };

    std::int32_t minute;
    std::uint32_t place;  // a segment of a road
    std::int64_t value;
    Kind kind;

    [[nodiscard]] std::uint32_t road() const noexcept { return place / segments; }
};

[[nodiscard]] inline std::uint32_t place_of(const Event& event) noexcept {
    return event.road() * segments + event.segment;
}
/// A car on a road.
[[nodiscard]] inline std::uint64_t car_of(const Event& event) noexcept {
    return std::uint64_t{event.road()} << 32 | static_cast<std::uint32_t>(event.car);
}
/// The minute that a watermark lies in; a watermark behind every time has none.
[[nodiscard]] inline std::int32_t minute_of(EventTime time) noexcept {
    constexpr std::int64_t ns = 60'000'000'000;
    if (time.ns() < 0) return -1;
    return static_cast<std::int32_t>(std::min<std::int64_t>(time.ns() / ns, 1 << 30));
}

/// Emits while there is room; false: there is more.
template <class Record>
bool emit_waiting(std::vector<Record>& waiting, auto& emit) {
    while (!waiting.empty()) {
        if (!emit.room()) return false;
        emit(Record{waiting.back()});
        waiting.pop_back();
    }
    return true;
}

/// Rule 2, behind a key by car and road: visits, when they are over.
class SpeedOfVisits : public OperatorTypes<message::Hashed<Event>, Visit> {
  public:
    static constexpr OperatorTraits traits{.kind = "speeds",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<Event>& arrived, auto& emit) {
        const Event& event = arrived.record;
        const auto [at, is_new] = open_.try_emplace(car_of(event));
        Open& open = at->second;
        const bool goes_on =
            !is_new && open.time / 60 == event.time / 60 && open.place == place_of(event);
        if (!goes_on) {
            if (!is_new) emit(visit_of(open));
            open = {event.time, place_of(event), 0, 0};
        }
        open.time = event.time;
        open.speeds += event.speed;
        ++open.reports;
    }
    bool on(Watermark watermark, auto& emit) {
        return end_minutes(minute_of(watermark.time), emit);
    }
    bool on(Ended, auto& emit) { return end_minutes(1 << 30, emit); }
    auto state() { return std::tie(open_, over_, minute_); }

  private:
    struct Open {
        std::int32_t time;
        std::uint32_t place;
        std::int64_t speeds;
        std::int64_t reports;
    };

    [[nodiscard]] static Visit visit_of(const Open& open) noexcept {
        return {open.time, open.place, speed_unit * open.speeds / open.reports};
    }
    bool end_minutes(std::int32_t minute, auto& emit) {
        if (minute > minute_) {
            minute_ = minute;
            boost::unordered::erase_if(open_, [&](const auto& entry) {
                const bool is_over = entry.second.time / 60 < minute;
                if (is_over) over_.push_back(visit_of(entry.second));
                return is_over;
            });
        }
        return emit_waiting(over_, emit);
    }

    boost::unordered_flat_map<std::uint64_t, Open> open_;
    std::vector<Visit> over_;
    std::int32_t minute_ = -1;
};

/// Rules 3 and 4, where all visits of a segment come to the same replica: velocities.
class Velocities : public OperatorTypes<message::Hashed<Visit>, Statistic> {
  public:
    static constexpr OperatorTraits traits{.kind = "velocities",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<Visit>& arrived, auto& /*emit*/) {
        const Visit& visit = arrived.record;
        Sum& sum = minutes_[visit.time / 60][visit.place];
        sum.means += visit.mean;
        ++sum.cars;
    }
    bool on(Watermark watermark, auto& emit) {
        const std::int32_t minute = minute_of(watermark.time);
        while (published_ < minute && !minutes_.empty()) publish(++published_);
        published_ = std::max(published_, minute);
        return emit_waiting(waiting_, emit);
    }
    auto state() { return std::tie(minutes_, waiting_, published_); }

  private:
    struct Sum {
        std::int64_t means = 0;
        std::int64_t cars = 0;
    };
    using Places = boost::unordered_flat_map<std::uint32_t, Sum>;

    /// Publishes the averages for cars that enter in that minute; none before it is open any more.
    void publish(std::int32_t minute) {
        boost::unordered_flat_map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> speeds;
        for (const auto& [of, places] : minutes_) {
            if (of >= minute) break;
            for (const auto& [place, sum] : places) {
                auto& [total, known] = speeds[place];
                total += sum.means / sum.cars;
                ++known;
            }
        }
        for (const auto& [place, speed] : speeds) {
            waiting_.push_back(
                {minute, place, speed.first / speed.second, Statistic::Kind::velocity});
        }
        minutes_.erase(minutes_.begin(), minutes_.upper_bound(minute - minutes_of_velocity));
    }

    std::map<std::int32_t, Places> minutes_;
    std::vector<Statistic> waiting_;
    std::int32_t published_ = -1;  // the last minute
};

/// Rule 3, where all visits of a segment come to the same replica: cars.
class Counts : public OperatorTypes<message::Hashed<Visit>, Statistic> {
  public:
    static constexpr OperatorTraits traits{.kind = "counts",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<Visit>& arrived, auto& /*emit*/) {
        ++minutes_[arrived.record.time / 60][arrived.record.place];
    }
    bool on(Watermark watermark, auto& emit) {
        const std::int32_t minute = minute_of(watermark.time);
        while (!minutes_.empty() && minutes_.begin()->first < minute) {
            const auto& [of, places] = *minutes_.begin();
            for (const auto& [place, cars] : places) {
                waiting_.push_back({of + 1, place, cars, Statistic::Kind::cars});
            }
            minutes_.erase(minutes_.begin());
        }
        return emit_waiting(waiting_, emit);
    }
    auto state() { return std::tie(minutes_, waiting_); }

  private:
    std::map<std::int32_t, boost::unordered_flat_map<std::uint32_t, std::int64_t>> minutes_;
    std::vector<Statistic> waiting_;
};

}  // namespace strid::apps::linear_road
