// SPDX-License-Identifier: Apache-2.0
//
// The value of --window: which windows, and whether their bounds can be written in the unit of the
// times. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <strid/base/time_zone.hpp>
#include <strid/window/spec.hpp>

#include "time_text.hpp"

namespace strid::tool {

using Windows = std::variant<window::TimeWindows, window::SessionWindows, window::CountWindows>;

/// Reads what stands in --window: days and what is longer are those of the zone, and windows begin
/// `offset` behind where they would. Throws GraphError.
[[nodiscard]] Windows read_windows(std::string_view text, const TimeZone& zone, Duration offset);

/// Why windows of these sizes, `asked` as text, have bounds that are no whole numbers of the unit
/// of integers, or of what the pattern of the bounds tells apart; empty where all are.
[[nodiscard]] std::string misfit(std::string_view asked, const TimeFormat& format, Duration offset,
                                 const Windows& windows);

}  // namespace strid::tool
