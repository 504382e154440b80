// SPDX-License-Identifier: Apache-2.0
//
// The payments of cars in the last ten weeks: the table that questions for expenditures are looked
// up in.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include <strid/connector/table_file.hpp>
#include <strid/operator/current_table.hpp>
#include <strid/operator/lookup_table.hpp>

#include "records.hpp"

namespace strid::apps::linear_road {

using HistoryTable = LookupTable<std::int64_t, std::int64_t>;

/// The key of a car's day on an expressway.
[[nodiscard]] constexpr std::int64_t history_key(std::int32_t car, std::int32_t day,
                                                 std::int32_t expressway) noexcept {
    return std::int64_t{car} << 32 | std::int64_t{day} << 24 | std::int64_t{expressway};
}

/// The table of a file of rows `VID,Day,XWay,Toll`. Throws InputOutputError, with the file and the
/// line, where it cannot be read, a row is malformed, or two are of the same car, day and
/// expressway.
[[nodiscard]] TableFile<HistoryTable> read_history(const std::string& path);

}  // namespace strid::apps::linear_road
