// SPDX-License-Identifier: Apache-2.0
//
// Aggregates whose states own memory or are long, and the same computed from the list of a window's
// records (window_oracle.hpp), without the aggregates.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/top_k.hpp>

#include "../windows.hpp"

namespace strid::test {

/// A number computed of all records of a window.
using OfRecords = std::function<double(const std::vector<Event>&)>;

inline std::int64_t remainder_of(const Event& event) {
    return event.value % 7;
}

inline const auto remainders = window::distinct<Event>(remainder_of);
inline const OfRecords remainders_of_records = [](const std::vector<Event>& records) {
    std::set<std::int64_t> values;
    for (const Event& event : records) values.insert(remainder_of(event));
    return static_cast<double>(values.size());
};

inline const auto about = window::distinct_approximately<4>(field<&Event::value>);
inline const OfRecords sketch_of_records = [](const std::vector<Event>& records) {
    std::set<std::int64_t> values;
    for (const Event& event : records) values.insert(event.value);
    window::HyperLogLog<4> sketch;
    for (const std::int64_t value : values) sketch.add(value);
    return std::round(sketch.estimate());
};

/// The values of a window's first three as the digits of a number, 0 where there is none.
template <class List, class DigitOf>
double digits_of(const List& list, DigitOf&& digit_of) {
    double number = 0;
    for (std::size_t rank = 0; rank < 3; ++rank) {
        number = number * 102'000 +
                 (rank < list.size() ? static_cast<double>(digit_of(list[rank]) + 1) : 0);
    }
    return number;
}

/// From 0 to 101,000.
inline std::int64_t digit_of(std::int64_t value, EventTime time) {
    return (value + 500) * 100 + (time.ns() % 100 + 100) % 100;
}

/// An aggregate whose result is the digits of its list.
template <class A>
struct Digits : A {
    [[nodiscard]] double lower(const typename A::State& state) const {
        return digits_of(state, [](const auto& ranked) {
            if constexpr (requires { ranked.value.second; }) {
                return digit_of(ranked.value.first, ranked.value.second);
            } else {
                return digit_of(ranked.value, ranked.item);
            }
        });
    }
};
template <class A>
Digits<A> digits(A aggregate) {
    return {std::move(aggregate)};
}

/// The first three of all records, sorted.
template <class Before>
OfRecords sorted_by(Before before) {
    return [before](std::vector<Event> records) {
        std::stable_sort(records.begin(), records.end(), before);
        return digits_of(records,
                         [](const Event& event) { return digit_of(event.value, event.time); });
    };
}

inline std::pair<std::int64_t, EventTime> value_and_time(const Event& event) {
    return {event.value, event.time};
}
inline const auto largest = digits(window::top_k<3, Event>(value_and_time));
inline const OfRecords largest_of_records =
    sorted_by([](const Event& a, const Event& b) { return value_and_time(a) > value_and_time(b); });

}  // namespace strid::test
