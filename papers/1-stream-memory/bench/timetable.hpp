// SPDX-License-Identifier: Apache-2.0
//
// When the quotes of a phase are due. Flat: one like the other. As a day: the times at which the
// generator (trading) has its quotes from the opening on, 50 times as fast
// as the day, and played so much faster or slower still that as many come a second as are asked
// for. The seed is fixed: so many quotes have the same bursts at every rate, the first one before
// quote 150,000.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <trading/trading_day.hpp>

namespace strid::bench {

enum class Arrivals : std::uint8_t { flat, day };

[[nodiscard]] inline Arrivals arrivals_named(std::string_view name) {
    if (name == "flat") return Arrivals::flat;
    if (name == "day") return Arrivals::day;
    throw std::invalid_argument("arrivals are 'flat' or as those of a 'day'");
}

/// Nanoseconds after the begin of a phase, rising.
using Timetable = std::vector<std::int64_t>;

/// How many nanoseconds after the opening the first so many quotes of the day come, and of those
/// behind it where one does not have as many.
[[nodiscard]] inline Timetable day_times(std::size_t quotes) {
    constexpr std::uint64_t seed = 14;
    apps::trading::DayShape shape;
    shape.zipf_exponent = 0;  // symbols are drawn elsewhere
    apps::trading::TradingDay day(shape, 1, seed);
    Timetable times(quotes);
    for (std::int64_t& time : times) {
        apps::trading::Quote quote{};
        while (!day.next(quote)) day.begin(shape);
        time = quote.time.ns();
    }
    return times;
}

/// So many quotes, one at least, of which `rate` come a second on average. O(quotes).
[[nodiscard]] inline Timetable timetable(Arrivals arrivals, std::size_t quotes, double rate) {
    Timetable times = arrivals == Arrivals::day ? day_times(quotes) : Timetable(quotes);
    const double ns = 1e9 / rate;
    const double scale = static_cast<double>(quotes) * ns /
                         static_cast<double>(std::max<std::int64_t>(times.back(), 1));
    for (std::size_t i = 0; i != quotes; ++i) {
        times[i] = static_cast<std::int64_t>(arrivals == Arrivals::day
                                                 ? static_cast<double>(times[i]) * scale
                                                 : static_cast<double>(i) * ns);
    }
    return times;
}

/// Quotes a second in the busiest time of so long. O(quotes).
[[nodiscard]] inline double peak_rate(const Timetable& times, std::int64_t span_ns) {
    std::size_t first = 0;
    std::size_t most = 0;
    for (std::size_t last = 0; last != times.size(); ++last) {
        while (times[last] - times[first] >= span_ns) ++first;
        most = std::max(most, last - first + 1);
    }
    return static_cast<double>(most) * 1e9 / static_cast<double>(span_ns);
}

}  // namespace strid::bench
