// SPDX-License-Identifier: Apache-2.0
//
// Three significant digits everywhere, so that columns of figures compare at a glance.
#include "drawing_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::detail {

namespace {

std::string three_digits(double value) {
    if (value >= 99.95) return fmt::format("{:.0f}", value);
    if (value >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

}  // namespace

std::string rate_text(std::uint64_t records, double seconds) {
    if (seconds <= 0) return "–";
    double rate = static_cast<double>(records) / seconds;
    if (rate < 999.5) return fmt::format("{:.0f} /s", rate);
    constexpr std::array prefixes{"K", "M", "G", "T"};
    std::size_t prefix = 0;
    for (rate /= 1000; rate >= 999.5 && prefix + 1 < prefixes.size(); rate /= 1000) ++prefix;
    return fmt::format("{} {}/s", three_digits(rate), prefixes.at(prefix));
}

std::string percent_text(double fraction) {
    return fmt::format("{:.0f} %", std::clamp(fraction, 0.0, 1.0) * 100);
}

std::string duration_text(std::int64_t nanoseconds) {
    double value = static_cast<double>(nanoseconds);
    if (value < 999.5) return fmt::format("{:.0f} ns", value);
    if ((value /= 1000) < 999.5) return three_digits(value) + " µs";
    if ((value /= 1000) < 999.5) return three_digits(value) + " ms";
    return three_digits(value / 1000) + " s";
}

void check_edges(const GraphDescription& description) {
    for (const GraphDescription::Edge& edge : description.edges) {
        const std::size_t size = description.segments.size();
        if (edge.from_segment >= size || edge.to_segment >= size) {
            throw GraphError("an edge of the drawing names a segment that is not there");
        }
    }
}

}  // namespace strid::detail
