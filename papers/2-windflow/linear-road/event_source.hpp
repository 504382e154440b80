// SPDX-License-Identifier: Apache-2.0
//
// A source of events: lines of the benchmark's 15 numbers, checked (README.md, "Input").
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "apps/common/checked_rows.hpp"
#include "records.hpp"

namespace strid::apps::linear_road {

/// A line as it stands in the file.
struct EventRow {
    std::int32_t type;
    std::int32_t time;
    std::int32_t car;
    std::int32_t speed;
    std::int32_t expressway;
    std::int32_t lane;
    std::int32_t direction;
    std::int32_t segment;
    std::int32_t position;
    std::int32_t query;
    std::int32_t first_segment;
    std::int32_t last_segment;
    std::int32_t day_of_week;
    std::int32_t time_of_day;
    std::int32_t day;
};

class EventCheck {
  public:
    using Row = EventRow;
    using Record = Event;
    static constexpr bool points_to_text = false;

    /// There are so many expressways.
    explicit EventCheck(std::int32_t expressways) noexcept : expressways_(expressways) {}

    bool operator()(const EventRow& row, Event& event, std::string& fault);
    auto state() { return std::tie(latest_); }

  private:
    std::int32_t expressways_;
    std::int32_t latest_ = 0;  // time so far
};

using EventSource = CheckedRows<EventCheck>;

}  // namespace strid::apps::linear_road
