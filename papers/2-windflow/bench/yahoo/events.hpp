// SPDX-License-Identifier: Apache-2.0
//
// Where the events of the benchmark come from, for the hand-written loop and for the engine alike:
//
//   MadeEvents     each is made when it is asked for
//   EventsInMemory the first million stand in memory and are read again and again
//   EventsAsText   the same as lines of text, which are parsed again and again
//
// The times of events that are read again are moved forward, so that event time goes on. Each gives
// its events in runs: `run(begin, end, take)` calls take(event) with the events of these numbers
// until that gives false, and returns how many it took. Inlined everywhere, so that every
// contestant gets its events at the same cost. Immutable; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "../ad_events.hpp"
#include "../hand/yahoo_benchmark.hpp"

namespace strid::bench {

/// Events that are kept, and the event time that they take.
inline constexpr std::uint64_t events_kept = 1'000'000;
inline constexpr std::int64_t kept_ms = events_kept / events_per_ms;
/// The number of events that a replica of the source takes together before it leaves as many to the
/// next: enough that the processor sees a sequence of its own to read ahead in. With a thousand,
/// two workers count events in memory at 0.85 of this rate.
inline constexpr std::uint64_t events_in_run = 8'000;
/// Events from one place in the text that is remembered to the next.
inline constexpr std::uint64_t events_between_marks = 100;
static_assert(events_kept % events_in_run == 0 && events_in_run % events_between_marks == 0);

template <class Event>
class MadeEvents {
  public:
    template <class Take>
    [[gnu::always_inline]] std::uint64_t run(std::uint64_t begin, std::uint64_t end,
                                             Take&& take) const {
        for (std::uint64_t number = begin; number != end; ++number) {
            if (!take(make_event<Event>(number))) return number + 1 - begin;
        }
        return end - begin;
    }
};

template <class Event>
class EventsInMemory {
  public:
    EventsInMemory() {
        events_.reserve(events_kept);
        for (std::uint64_t i = 0; i < events_kept; ++i) events_.push_back(make_event<Event>(i));
    }

    template <class Take>
    [[gnu::always_inline]] std::uint64_t run(std::uint64_t begin, std::uint64_t end,
                                             Take&& take) const {
        const auto later_ms = static_cast<std::int64_t>(begin / events_kept) * kept_ms;
        const Event* at = events_.data() + begin % events_kept;
        for (std::uint64_t number = begin; number != end; ++number) {
            Event event = *at++;
            event.time_ms += later_ms;
            if (!take(std::move(event))) return number + 1 - begin;
        }
        return end - begin;
    }

  private:
    std::vector<Event> events_;
};

template <class Event>
class EventsAsText {
  public:
    EventsAsText() {
        for (std::uint64_t i = 0; i < events_kept; ++i) {
            if (i % events_between_marks == 0) marks_.push_back(text_.size());
            const auto event = make_event<Event>(i);
            fmt::format_to(std::back_inserter(text_), "{},{},{},{},{},{},{}\n", event.user,
                           event.page, event.ad, event.ad_type, event.event_type,
                           begin_ms + event.time_ms, event.ip);
        }
    }

    template <class Take>
    [[gnu::always_inline]] std::uint64_t run(std::uint64_t begin, std::uint64_t end,
                                             Take&& take) const {
        const auto later_ms = static_cast<std::int64_t>(begin / events_kept) * kept_ms - begin_ms;
        const char* const text_end = text_.data() + text_.size();
        const std::uint64_t first = begin % events_kept;
        const char* at = text_.data() + marks_[first / events_between_marks];
        for (std::uint64_t skipped = first % events_between_marks; skipped != 0; --skipped) {
            at = static_cast<const char*>(
                     std::memchr(at, '\n', static_cast<std::size_t>(text_end - at))) +
                 1;
        }
        for (std::uint64_t number = begin; number != end; ++number) {
            auto event = hand::parse_event<Event>(at, text_end);
            event.time_ms += later_ms;
            if (!take(std::move(event))) return number + 1 - begin;
        }
        return end - begin;
    }

  private:
    static constexpr std::int64_t begin_ms = 1'450'000'000'000;  // so that times have 13 digits

    std::string text_;
    std::vector<std::size_t> marks_;  // where the first of so many events begins
};

/// Calls take(event) with the first `count` of the events.
template <class Events, class Take>
void for_each_event(const Events& events, std::uint64_t count, Take&& take) {
    for (std::uint64_t begin = 0; begin < count; begin += events_in_run) {
        events.run(begin, std::min(begin + events_in_run, count), [&take](const auto& event) {
            take(event);
            return true;
        });
    }
}

/// The first `count` events as a source of the engine. The replicas take the runs in turn, so that
/// each sees its times rise as they do in all. A poll takes as many as the engine asks for: one run
/// a poll costs an eighth of the rate, because what a poll costs beside its events (telling the
/// windows how far time has come, and running them) is then paid for a thousand events.
template <class Event, class Events>
class EventSource {
  public:
    using record_type = Event;
    static constexpr SourceTraits traits{.hears = events<Opened>};

    /// `events` outlives the run.
    EventSource(const Events& events, std::uint64_t count) : events_(&events), count_(count) {}

    void on(const Opened& opened) noexcept {
        replicas_ = opened.context.parallelism;
        next_ = opened.context.replica * events_in_run;
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        bool room = true;
        // Inlined whatever the compiler's budget says: else every field of an event is made.
        // clang-format off
        const auto take = [&emit, &room](Event&& event) __attribute__((always_inline)) {
            // clang-format on
            if (emit(std::move(event))) return true;
            room = false;
            return false;
        };
        while (room && budget != 0 && next_ < count_) {
            const std::uint64_t run_end = next_ / events_in_run * events_in_run + events_in_run;
            const std::uint64_t end = std::min({run_end, next_ + budget, count_});
            const std::uint64_t taken = events_->run(next_, end, take);
            budget -= taken;
            next_ += taken;
            if (next_ == run_end) next_ += (replicas_ - 1) * events_in_run;
        }
        return next_ >= count_ ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(next_); }

  private:
    const Events* events_;
    std::uint64_t count_;
    std::uint64_t replicas_ = 1;
    std::uint64_t next_ = 0;
};

}  // namespace strid::bench
