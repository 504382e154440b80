// SPDX-License-Identifier: Apache-2.0
//
// The numbers in the rules of README.md, for both layouts.
#pragma once

#include <cstdint>

namespace strid::apps::linear_road {

/// A car that was silent for more minutes has left (rule 1).
inline constexpr std::int32_t minutes_of_silence = 2;
/// Of speeds: a mile an hour (rule 2). Means of up to ten reports are whole.
inline constexpr std::int64_t speed_unit = 2520;
/// Minutes that a latest average velocity is the mean of (rule 4).
inline constexpr std::int32_t minutes_of_velocity = 5;
/// Reports in a row from one place that are a stop (rule 5).
inline constexpr std::uint8_t reports_of_stop = 4;
/// So many cars of a segment pay no toll, and none does from that velocity on (rule 9).
inline constexpr std::uint32_t cars_without_toll = 50;
inline constexpr std::int64_t velocity_without_toll = 40 * speed_unit;
/// Segments in which an accident counts, with that of the car (rules 9 and 10).
inline constexpr std::int32_t segments_ahead = 5;

}  // namespace strid::apps::linear_road
