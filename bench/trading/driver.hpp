// SPDX-License-Identifier: Apache-2.0
//
// Who says when the next quotes may go: the same for the farm by hand and for the engine. Both ask
// `due` how many they may send, send them and say so with `sent`.
//
//     RateSearch     the highest rate that is sustained: an open-loop phase at a rate, sustained
//                    when it ends, results and all, within a small lateness of its schedule; the
//                    rates between bounds that a closed-loop phase gives are bisected
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
    double closed_seconds = 0.5;
    double open_seconds = 0.5;
    double lateness_seconds_max = 0.05;
    int steps = 5;
};

class RateSearch final : public Driver {
  public:
    RateSearch(const RateSearchOptions& options, const Feed& feed, const Answer& answer)
        : options_(options), feed_(feed), answer_(answer) {}

    std::size_t due(std::int64_t now_ns) override;
    void sent(std::size_t quotes) override { sent_ += quotes; }
    [[nodiscard]] bool finished() const override { return phase_ == Phase::over; }

    /// Quotes per second when nothing limits the emitter, and the highest rate sustained.
    [[nodiscard]] double closed_rate() const noexcept { return closed_rate_; }
    [[nodiscard]] double sustained_rate() const noexcept { return low_; }
    /// What a quote of the closed-loop phase took of all threads, waiting included. Neighbours on
    /// the machine touch it less than they do a rate.
    [[nodiscard]] double processor_us_per_quote() const noexcept { return processor_us_; }

  private:
    enum class Phase : std::uint8_t { fill, closed, open, over };

    [[nodiscard]] std::uint64_t due_in_phase(double seconds);
    void begin(Phase phase, std::int64_t now_ns);
    void end_phase(double seconds, std::int64_t now_ns);

    RateSearchOptions options_;
    const Feed& feed_;
    const Answer& answer_;
    Phase phase_ = Phase::fill;
    bool draining_ = false;  // of a phase: all is sent, results are still to come
    bool is_late_ = false;
    std::int64_t begin_ns_ = 0;
    std::uint64_t sent_ = 0;  // in this phase
    int step_ = 0;
    double closed_rate_ = 0;
    std::clock_t processor_begin_ = 0;
    double processor_us_ = 0;
    double low_ = 0;   // sustained
    double high_ = 0;  // not
    double rate_ = 0;  // that is tried
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
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    const double seconds = static_cast<double>(now_ns - begin_ns_) / 1e9;
    if (!draining_) {
        const std::uint64_t due = due_in_phase(seconds);
        if (due > sent_) return std::min<std::uint64_t>(due - sent_, at_once);
    }
    if (draining_ && answer_.delivered() == feed_.windows()) end_phase(seconds, now_ns);
    return 0;
}

/// Quotes that should have been sent by now; decides whether these are all.
inline std::uint64_t RateSearch::due_in_phase(double seconds) {
    switch (phase_) {
        case Phase::fill:
            draining_ = sent_ >= options_.fill_quotes;
            return options_.fill_quotes;
        case Phase::closed:
            draining_ = seconds >= options_.closed_seconds;
            return draining_ ? sent_ : sent_ + at_once;
        case Phase::open: {
            const double behind = seconds - static_cast<double>(sent_) / rate_;
            is_late_ = behind > options_.lateness_seconds_max;
            const double planned = std::min(seconds, options_.open_seconds) * rate_;
            draining_ = is_late_ || (seconds >= options_.open_seconds &&
                                     sent_ >= static_cast<std::uint64_t>(planned));
            return static_cast<std::uint64_t>(planned);
        }
        case Phase::over:
            break;
    }
    return 0;
}

inline void RateSearch::begin(Phase phase, std::int64_t now_ns) {
    phase_ = phase;
    begin_ns_ = now_ns;
    processor_begin_ = std::clock();
    sent_ = 0;
    draining_ = is_late_ = false;
}

inline void RateSearch::end_phase(double seconds, std::int64_t now_ns) {
    if (phase_ == Phase::fill) {
        begin(Phase::closed, now_ns);
        return;
    }
    if (phase_ == Phase::closed) {
        closed_rate_ = static_cast<double>(sent_) / seconds;
        processor_us_ = static_cast<double>(std::clock() - processor_begin_) *
                        (1e6 / CLOCKS_PER_SEC) / static_cast<double>(sent_);
        low_ = closed_rate_ / 2;
        high_ = closed_rate_ * 1.1;
    } else {
        const bool sustained =
            !is_late_ && seconds <= options_.open_seconds + options_.lateness_seconds_max;
        (sustained ? low_ : high_) = rate_;
        ++step_;
    }
    rate_ = (low_ + high_) / 2;
    begin(step_ == options_.steps ? Phase::over : Phase::open, now_ns);
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
