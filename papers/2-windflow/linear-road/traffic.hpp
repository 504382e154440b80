// SPDX-License-Identifier: Apache-2.0
//
// Traffic on an expressway that is made instead of read: cars enter, drive as fast as the density
// of their segment lets them, have accidents, ask questions and leave; their number grows evenly to
// the last second, as in the benchmark. The same for the same seed, whatever other expressways
// there are.
//
// TrafficSource makes the events of several expressways, second by second; of n replicas, replica i
// makes the expressways i, i + n, i + 2n, ... and waits for the others where it is far ahead. Each
// replica is used by one thread at a time; stop() and fraction_done() by any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/connector/pace.hpp>
#include <strid/connector/random.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/codec.hpp>

#include "in_step.hpp"
#include "records.hpp"

namespace strid::apps::linear_road {

struct TrafficOptions {
    std::int32_t expressways = 1;
    std::int32_t seconds = 10'800;
    std::int32_t cars = 50'000;  ///< on each expressway in the last second, both directions
    std::int32_t accident_every = 1'200;  ///< seconds, on each expressway, more or less
    std::uint64_t count_max = 0;          ///< Events of all together; 0: what the seconds have.
    std::uint64_t seed = 1;
    bool by_one = false;  ///< One replica makes all, in the order of their times.
};

class Expressway {
  public:
    Expressway(const TrafficOptions& options, std::int32_t number);

    /// Appends the events of that second; seconds are asked for in turn, from 0 on.
    void make(std::int32_t second, std::vector<Event>& events);
    auto state() {
        return std::tie(random_, directions_, left_, cars_, questions_, next_accident_);
    }

  private:
    static constexpr std::int32_t seconds_of_report = 30;

    struct Driver {
        std::int32_t car;
        std::int32_t position;
        std::int32_t stopped_until;
        std::uint8_t lane;
        std::uint8_t exit_segment;
    };
    struct Direction {
        std::array<std::vector<Driver>, seconds_of_report> drivers;  // by second of their reports
        std::array<std::int32_t, segments> density{};                // cars
        std::int32_t accident_segment = -1;
        std::int32_t accident_until = 0;
    };

    void drive(std::int32_t second, std::uint8_t direction, std::vector<Event>& events);
    void enter(std::int32_t second, std::uint8_t direction, std::vector<Event>& events);
    bool move(std::int32_t second, std::uint8_t direction, Driver& driver, std::int32_t& speed);
    void crash(std::int32_t second);
    void report(std::int32_t second, std::uint8_t direction, const Driver& driver,
                std::int32_t speed, std::vector<Event>& events);
    void ask(std::int32_t second, std::int32_t car, std::vector<Event>& events);
    [[nodiscard]] std::int32_t next_number(std::int32_t& count) const noexcept;

    TrafficOptions options_;
    std::int32_t number_;
    Random random_;
    std::array<Direction, 2> directions_;
    std::vector<std::int32_t> left_;  // cars that may come back
    std::int32_t cars_ = 0;
    std::int32_t questions_ = 0;
    std::int32_t next_accident_;
};

/// Those of a replica, which it makes when it is opened.
struct Expressways : std::vector<Expressway> {
    void save(StateWriter& writer) const {
        writer.length(size());
        for (const Expressway& one : *this) state::save(writer, one);
    }
    /// Throws StateError where there are not as many.
    void load(StateReader& reader) {
        if (reader.number() != size()) {
            throw StateError("there were not as many expressways: --expressways, --parallelism");
        }
        for (Expressway& one : *this) state::load(reader, one);
    }
};

class TrafficSource {
  public:
    using record_type = Event;
    static constexpr SourceTraits traits{
        .hears = events<Opened, Stopped>,
        .has = Has::wake_at_ns | Has::fraction_done | Has::replicas_used};

    /// Throws GraphError where numbers of cars would not fit.
    explicit TrafficSource(const TrafficOptions& options);

    void on(const Opened& opened);
    /// A number of events is that of all expressways in turn, so that one replica makes them, too.
    [[nodiscard]] std::size_t replicas_used(std::size_t replicas) const noexcept {
        const auto expressways = static_cast<std::size_t>(options_.expressways);
        const bool by_one = options_.by_one || options_.count_max != 0;
        return by_one ? 1 : std::min(replicas, expressways);
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (stopped_.load() != 0) return SourceStatus::finished;
        if (!in_step_->go_to(replica_, second_)) {
            constexpr std::int64_t wait_ns = 100'000;
            wake_at_ns_ = now_ns() + wait_ns;
            return SourceStatus::idle;
        }
        for (; budget > 0; --budget) {
            if (next_ == made_.size() && !make_some()) {
                in_step_->finish(replica_);
                fraction_done_.store(1);
                return SourceStatus::finished;
            }
            if (!emit(Event{made_[next_++]})) break;
        }
        return SourceStatus::more;
    }
    /// No more are made. Any thread.
    void on(Stopped) noexcept { stopped_.store(1); }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    auto state() { return std::tie(expressways_, made_, next_, next_expressway_, second_, count_); }

  private:
    bool make_some();

    TrafficOptions options_;
    std::shared_ptr<InStep> in_step_ = std::make_shared<InStep>();
    std::size_t replica_ = 0;
    Expressways expressways_;
    std::vector<Event> made_;  // of one expressway in one second
    std::size_t next_ = 0;
    std::size_t next_expressway_ = 0;
    std::int32_t second_ = 0;
    std::uint64_t count_ = 0;
    std::int64_t wake_at_ns_ = 0;
    SharedFraction fraction_done_;
    SharedFraction stopped_;  // 0 or 1
};

}  // namespace strid::apps::linear_road
