// SPDX-License-Identifier: Apache-2.0
//
// Decides when the next quotes may be sent: the same for the farm by hand and for the engine. Both
// call `due` for the number of quotes, send them and report it with `sent`.
//
//     RateSearch     the highest rate that is sustained: an open-loop phase sends on a timetable
//                    (timetable.hpp), flat or with the bursts of a day, at a mean rate; the rates
//                    up to a little more than that of a closed-loop phase are bisected. Sustained:
//                    nothing is lost; no quote is sent more than a small lateness behind its time,
//                    so that the backlog is bounded, and the last result is out as soon behind the
//                    last quote; and 99 % of the results are out within a latency of the time at
//                    which the last quote of their window was due
//     DaySchedule    quotes when their event times are due
//     SendAll        as fast as it goes
//
// Threads: the emitter's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "answer.hpp"
#include "feed.hpp"
#include "timetable.hpp"

namespace strid::bench {

class Driver {
  public:
    Driver() = default;
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    virtual ~Driver() = default;

    /// Quotes that may be sent now; 0: wait, or stop where it is finished.
    [[nodiscard]] virtual std::size_t due(std::int64_t now_ns) = 0;
    virtual void sent(std::size_t quotes) = 0;
    [[nodiscard]] virtual bool finished() const = 0;

  protected:
    static constexpr std::size_t at_once = 32;
};

class SendAll final : public Driver {
  public:
    explicit SendAll(std::uint64_t quotes) : left_(quotes) {}

    std::size_t due(std::int64_t) override { return std::min<std::uint64_t>(left_, at_once); }
    void sent(std::size_t quotes) override { left_ -= quotes; }
    [[nodiscard]] bool finished() const override { return left_ == 0; }

  private:
    std::uint64_t left_;
};

struct RateSearchOptions {
    std::uint64_t fill_quotes = 0;  ///< sent before anything is measured
    double closed_seconds = 0.5;    ///< An open-loop phase has as many quotes as came in these.
    double lateness_seconds_max = 0.05;
    double latency_seconds_p99_max = 0.05;
    int steps = 6;  ///< The bounds come as near as the closed-loop rate by 2 to this power.
    Arrivals arrivals = Arrivals::day;
};

/// A phase that was sustained.
struct SustainedPhase {
    double rate = 0;       ///< Quotes a second; 0: none was.
    double peak_rate = 0;  ///< In its busiest 10 ms.
    double latency_seconds_p99 = 0;
};

class RateSearch final : public Driver {
  public:
    RateSearch(const RateSearchOptions& options, const Feed& feed, Answer& answer)
        : options_(options), feed_(feed), answer_(answer) {}

    std::size_t due(std::int64_t now_ns) override;
    void sent(std::size_t quotes) override { sent_ += quotes; }
    [[nodiscard]] bool finished() const override { return phase_ == Phase::over; }

    /// Quotes per second when nothing limits the emitter, and the best phase sustained.
    [[nodiscard]] double closed_rate() const noexcept { return closed_rate_; }
    [[nodiscard]] const SustainedPhase& sustained() const noexcept { return sustained_; }
    /// The time of all threads for a quote of the closed-loop phase, waiting included. Neighbours
    /// on the machine touch it less than they do a rate.
    [[nodiscard]] double processor_us_per_quote() const noexcept { return processor_us_; }

  private:
    enum class Phase : std::uint8_t { fill, closed, open, over };

    [[nodiscard]] std::uint64_t due_in_phase(std::int64_t into_phase_ns);
    [[nodiscard]] std::uint64_t due_by_timetable(std::int64_t into_phase_ns);
    void begin(Phase phase);
    void begin_open();
    void end_phase(double seconds);
    [[nodiscard]] bool is_sustained(double seconds) const noexcept;

    RateSearchOptions options_;
    const Feed& feed_;
    Answer& answer_;
    Phase phase_ = Phase::fill;
    bool draining_ = false;  // of a phase: all is sent, results are still to come
    bool is_late_ = false;
    std::int64_t begin_ns_ = 0;
    std::uint64_t sent_ = 0;  // in this phase
    int step_ = 0;
    double closed_rate_ = 0;
    std::clock_t processor_begin_ = 0;
    double processor_us_ = 0;
    double low_ = 0;          // sustained, or nothing
    double high_ = 0;         // not
    double rate_ = 0;         // that is tried
    std::size_t quotes_ = 1;  // of an open-loop phase
    Timetable timetable_;
    SustainedPhase sustained_;
};

class DaySchedule final : public Driver {
  public:
    DaySchedule(std::uint64_t fill_quotes, double seconds, const Feed& feed, const Answer& answer)
        : fill_quotes_(fill_quotes), seconds_(seconds), feed_(feed), answer_(answer) {}

    std::size_t due(std::int64_t now_ns) override;
    void sent(std::size_t) override {}
    [[nodiscard]] bool finished() const override { return finished_; }

    /// The day has begun, so that every window is full.
    [[nodiscard]] bool is_steady() const noexcept { return begin_ns_ != 0; }
    /// How far quotes were behind the schedule at most.
    [[nodiscard]] double lateness_seconds() const noexcept { return lateness_seconds_; }

  private:
    std::uint64_t fill_quotes_;
    double seconds_;
    const Feed& feed_;
    const Answer& answer_;
    std::int64_t begin_ns_ = 0;
    EventTime day_begin_;
    bool draining_ = false;
    bool finished_ = false;
    double lateness_seconds_ = 0;
};

inline std::size_t RateSearch::due(std::int64_t now_ns) {
    if (phase_ == Phase::over) return 0;
    if (begin_ns_ == 0) {
        begin_ns_ = now_ns;
        if (phase_ == Phase::open) answer_.time_results(feed_.quotes(), begin_ns_, timetable_);
    }
    const std::int64_t into_phase_ns = now_ns - begin_ns_;
    if (!draining_) {
        const std::uint64_t due = due_in_phase(into_phase_ns);
        if (due > sent_) return std::min<std::uint64_t>(due - sent_, at_once);
    }
    if (draining_ && answer_.delivered() == feed_.windows()) {
        end_phase(static_cast<double>(into_phase_ns) / 1e9);
    }
    return 0;
}

/// Quotes that should have been sent by now; decides whether these are all.
inline std::uint64_t RateSearch::due_in_phase(std::int64_t into_phase_ns) {
    switch (phase_) {
        case Phase::fill:
            draining_ = sent_ >= options_.fill_quotes;
            return options_.fill_quotes;
        case Phase::closed:
            draining_ = static_cast<double>(into_phase_ns) / 1e9 >= options_.closed_seconds;
            return draining_ ? sent_ : sent_ + at_once;
        case Phase::open:
            return due_by_timetable(into_phase_ns);
        case Phase::over:
            break;
    }
    return 0;
}

inline std::uint64_t RateSearch::due_by_timetable(std::int64_t into_phase_ns) {
    draining_ = sent_ == timetable_.size();
    if (draining_) return sent_;
    const auto behind_ns = static_cast<double>(into_phase_ns - timetable_[sent_]);
    is_late_ = behind_ns > options_.lateness_seconds_max * 1e9;
    draining_ = is_late_;
    std::uint64_t due = sent_;
    const std::uint64_t most = std::min<std::uint64_t>(sent_ + at_once, timetable_.size());
    while (due != most && timetable_[due] <= into_phase_ns) ++due;
    return due;
}

inline void RateSearch::begin(Phase phase) {
    phase_ = phase;
    begin_ns_ = 0;  // when it is next asked what is due
    processor_begin_ = std::clock();
    sent_ = 0;
    draining_ = is_late_ = false;
}

inline void RateSearch::begin_open() {
    if (step_ == options_.steps) return begin(Phase::over);
    rate_ = (low_ + high_) / 2;
    timetable_ = timetable(options_.arrivals, quotes_, rate_);
    begin(Phase::open);
}

inline bool RateSearch::is_sustained(double seconds) const noexcept {
    const double planned = static_cast<double>(timetable_.back()) / 1e9;
    return !is_late_ && seconds <= planned + options_.lateness_seconds_max &&
           answer_.latency_seconds(99) <= options_.latency_seconds_p99_max;
}

inline void RateSearch::end_phase(double seconds) {
    if (phase_ == Phase::fill) return begin(Phase::closed);
    if (phase_ == Phase::closed) {
        closed_rate_ = static_cast<double>(sent_) / seconds;
        processor_us_ = static_cast<double>(std::clock() - processor_begin_) *
                        (1e6 / CLOCKS_PER_SEC) / static_cast<double>(sent_);
        high_ = closed_rate_ * 1.1;
        quotes_ = sent_;
    } else {
        const bool sustained = is_sustained(seconds);
        if (sustained) {
            constexpr std::int64_t busiest_ns = 10'000'000;
            sustained_ = {rate_, peak_rate(timetable_, busiest_ns), answer_.latency_seconds(99)};
        }
        (sustained ? low_ : high_) = rate_;
        answer_.stop_timing();
        ++step_;
    }
    begin_open();
}

inline std::size_t DaySchedule::due(std::int64_t now_ns) {
    if (draining_) {
        finished_ = answer_.delivered() == feed_.windows();
        return 0;
    }
    if (feed_.quotes() < fill_quotes_) {
        return std::min<std::uint64_t>(fill_quotes_ - feed_.quotes(), at_once);
    }
    if (begin_ns_ == 0) {
        if (answer_.delivered() != feed_.windows()) return 0;
        begin_ns_ = now_ns;
        day_begin_ = feed_.front().time;
    }
    const std::int64_t into_run_ns = now_ns - begin_ns_;
    const std::int64_t into_day_ns = (feed_.front().time - day_begin_).count();
    draining_ = static_cast<double>(into_day_ns) / 1e9 >= seconds_;
    if (draining_ || into_day_ns > into_run_ns) return 0;
    lateness_seconds_ =
        std::max(lateness_seconds_, static_cast<double>(into_run_ns - into_day_ns) / 1e9);
    return 1;
}

}  // namespace strid::bench
