// SPDX-License-Identifier: Apache-2.0
//
// Where a vehicle was: the record of traffic monitoring. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include <strid/connector/csv_value.hpp>

#include "roads.hpp"

namespace strid::apps::traffic_monitoring {

/// A number of a column that has bounds; outside of them its row is malformed.
template <int least, int most>
struct Within {
    double value;

    operator double() const noexcept { return value; }  // NOLINT: implicit by intent
};

template <int least, int most>
bool from_csv(std::string_view text, Within<least, most>& number) {
    return strid::detail::read_floating(text, number.value, NonFinite::reject) == nullptr &&
           number.value >= least && number.value <= most;
}

struct Fix {
    std::uint64_t vehicle;
    Within<-90, 90> latitude;  ///< degrees, WGS 84
    Within<-180, 180> longitude;
    Within<0, 1000> speed;   ///< km/h
    Within<0, 360> bearing;  ///< degrees, clockwise from north; without a meaning at speed 0

    [[nodiscard]] Position position() const noexcept { return {latitude, longitude}; }
};
static_assert(sizeof(Fix) == 40);

/// A fix on a road.
struct Match {
    std::int64_t road;
    double speed;
};

}  // namespace strid::apps::traffic_monitoring
