// SPDX-License-Identifier: Apache-2.0
//
// A source that hands its events out when their times say: the input's clock runs with the
// machine's, or at a fraction or a multiple of its pace. An event that is late keeps its due time,
// so that response times count the wait (no coordinated omission).
//
// strid::paced() cannot do this: its due times come from the numbers of the records, so that it
// asks its source for as many as are due. Here an event has to be there for its due time to be
// known.
//
// Threads: a Timetable is shared by the replicas of a source and by the sink; the first event sets
// it, from then on it is constant. OnTime as the source that it wraps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/connector/pace.hpp>
#include <strid/operator/source.hpp>

#include "apps/common/any_source.hpp"
#include "event_source.hpp"
#include "records.hpp"
#include "traffic.hpp"

namespace strid::apps::linear_road {

/// Events that are read or made.
using AnySource = apps::AnySource<EventSource, TrafficSource>;

class Timetable {
  public:
    /// `pace`: seconds of the input a second, 0.25 at the least, so that nanoseconds fit.
    explicit Timetable(double pace) noexcept : pace_(pace) {}

    /// Second `first` of the input is now, unless the timetable has begun.
    void begin(std::int32_t first) noexcept {
        if (zero_ns_.load(std::memory_order_acquire) != unset) return;  // pairs with below
        std::int64_t expected = unset;
        zero_ns_.compare_exchange_strong(expected, now_ns() - ns_of(first),
                                         std::memory_order_acq_rel);
    }
    [[nodiscard]] std::int64_t due_ns(std::int32_t second) const noexcept {
        return zero_ns_.load(std::memory_order_acquire) + ns_of(second);
    }
    /// The time of the input at that time of the machine, in seconds.
    [[nodiscard]] double second_at(std::int64_t ns) const noexcept {
        return static_cast<double>(ns - zero_ns_.load(std::memory_order_acquire)) * 1e-9 * pace_;
    }

  private:
    static constexpr std::int64_t unset = std::numeric_limits<std::int64_t>::min();

    [[nodiscard]] std::int64_t ns_of(std::int32_t second) const noexcept {
        return static_cast<std::int64_t>(second * 1e9 / pace_);
    }

    double pace_;
    std::atomic<std::int64_t> zero_ns_{unset};  // when second 0 is
};

class OnTime {
  public:
    using record_type = Event;
    static constexpr SourceTraits traits{
        .hears = events<Opened, Restored, SnapshotBegins, Stopped>,
        .has = Has::wake_at_ns | Has::blocks | Has::files | Has::fraction_done | Has::bytes_read,
        .drains = AnySource::traits.drains};

    /// The input begins with second `first`; without it with its first event.
    OnTime(AnySource source, std::shared_ptr<Timetable> timetable,
           std::optional<std::int32_t> first)
        : source_(std::move(source)), timetable_(std::move(timetable)), first_(first) {}

    void on(const Opened& opened) {
        waiting_.clear();
        next_ = 0;
        at_end_ = SourceStatus::more;
        stopped_.store(0);
        source_.on(opened);
    }
    /// The input's clock begins anew with the next event.
    void on(Restored restored) {
        source_.on(restored);
        first_.reset();
        if (next_ < waiting_.size()) timetable_->begin(waiting_[next_].time);
    }
    void on(SnapshotBegins snapshot) { source_.on(snapshot); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        while (budget > 0) {
            if (next_ == waiting_.size() && !fetch(emit)) return at_end_;
            const std::int64_t now = now_ns();
            for (; next_ != waiting_.size() && budget > 0; --budget) {
                const Event& event = waiting_[next_];
                const std::int64_t due_ns = timetable_->due_ns(event.time);
                if (due_ns > now && stopped_.load() == 0) {
                    wake_at_ns_ = due_ns;
                    return SourceStatus::idle;
                }
                ++next_;
                emit.ingress_at(std::min(due_ns, now));
                if (!emit(Event{event})) return SourceStatus::more;
            }
        }
        return SourceStatus::more;
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return next_ == waiting_.size() ? source_.wake_at_ns() : wake_at_ns_;
    }
    [[nodiscard]] bool blocks() const noexcept { return source_.blocks(); }
    /// Fetched records are handed out at once.
    void on(Stopped stopped) noexcept {
        stopped_.store(1);
        source_.on(stopped);
    }
    [[nodiscard]] std::vector<FileUse> files() const { return source_.files(); }
    [[nodiscard]] double fraction_done() const noexcept { return source_.fraction_done(); }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return source_.bytes_read(); }
    auto state() { return std::tie(source_, waiting_, next_); }

  private:
    static constexpr std::size_t fetched_at_once = 1024;

    /// The emitter of the wrapped source.
    template <class Emit>
    struct Waiting {
        std::vector<Event>& events;
        Emit& emit;

        bool operator()(Event&& event) {
            events.push_back(event);
            return true;
        }
        void ingress_at(std::int64_t /*ns*/) noexcept {}  // the timetable decides
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    /// False: there is none now, and at_end_ says why.
    template <class Emit>
    bool fetch(Emit& emit) {
        waiting_.clear();
        next_ = 0;
        if (at_end_ == SourceStatus::finished) return false;
        Waiting<Emit> into{waiting_, emit};
        at_end_ = source_.poll(into, fetched_at_once);
        if (!waiting_.empty()) timetable_->begin(first_.value_or(waiting_.front().time));
        return !waiting_.empty();
    }

    AnySource source_;
    std::shared_ptr<Timetable> timetable_;
    std::optional<std::int32_t> first_;
    SharedFraction stopped_;  // 0 or 1
    std::vector<Event> waiting_;
    std::size_t next_ = 0;
    SourceStatus at_end_ = SourceStatus::more;
    std::int64_t wake_at_ns_ = 0;
};

}  // namespace strid::apps::linear_road
