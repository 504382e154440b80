// SPDX-License-Identifier: Apache-2.0
//
// Windows by the obvious sequential computation: which windows a time lies in by the arithmetic of
// whole numbers, late records by the watermark before them, each window's value by a loop over its
// records. Of the library only plain values are used here, the lengths that a specification was
// made of among them: neither its arithmetic of windows nor its aggregates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/window/spec.hpp>

namespace strid::test {

using window::CountWindows;
using window::SessionWindows;
using window::TimeWindows;

struct Event {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
    friend auto operator<=>(const Event&, const Event&) = default;
};

inline EventTime at(std::int64_t ns) {
    return EventTime::of_ns(ns);
}

/// The watermark before each record.
std::vector<EventTime> watermarks(const std::vector<Event>& events, Duration bound);

/// Whether time has gone on by so much since `end`.
bool has_passed(std::int64_t end, Duration lateness, EventTime asserted);

/// Where the windows start that a time lies in: every `slide` from the offset on, for `length`.
/// Earliest first; for times that are not near their limits.
std::vector<std::int64_t> starts_of(const TimeWindows& windows, EventTime time);

/// Where the first window ends that a time lies in, if there is one.
std::optional<EventTime> first_end(const TimeWindows& windows, EventTime time);

// The values of the functions of windows for the records of one window.

double sum_of(const std::vector<Event>& records);
double count_of(const std::vector<Event>& records);
double mean_of(const std::vector<Event>& records);
double largest_of(const std::vector<Event>& records);

using Row =
    std::tuple<std::uint32_t, std::int64_t, std::int64_t, double>;  // key, start, end, value

struct Answer {
    std::vector<Row> rows;  // sorted
    std::vector<Event> late;
    friend bool operator==(const Answer&, const Answer&) = default;
};

void sort(Answer& answer);

/// The value of a window for its records, in the order in which they came.
using ValueOf = std::function<double(const std::vector<Event>&)>;

Answer expected(const std::vector<Event>& events, const TimeWindows& windows, Duration bound,
                Duration lateness, const ValueOf& value_of);

/// Of sessions their order is that in which these became one.
Answer expected(const std::vector<Event>& events, const SessionWindows& windows, Duration bound,
                Duration lateness, const ValueOf& value_of);

}  // namespace strid::test
