// SPDX-License-Identifier: Apache-2.0
#include "event_source.hpp"

#include <fmt/format.h>

namespace strid::apps::linear_road {

namespace {

/// Words for the first value that is out of its range; empty: none is.
struct Ranges {
    std::string& fault;

    void check(const char* name, std::int32_t value, std::int32_t least, std::int32_t most) {
        if (value >= least && value <= most) [[likely]]
            return;
        if (fault.empty()) {
            fault = fmt::format("{} {} is not between {} and {}", name, value, least, most);
        }
    }
    void check(const char* name, std::int32_t value) {
        if (value < 0 && fault.empty()) fault = fmt::format("{} {} is negative", name, value);
    }
};

void check_expressway(const EventRow& row, std::int32_t expressways, std::string& fault) {
    if (row.expressway >= 0 && row.expressway < expressways) [[likely]]
        return;
    if (fault.empty()) {
        fault = fmt::format("there is no expressway {}: {}", row.expressway,
                            expressways == 1 ? "the only one is 0"
                                             : fmt::format("they are 0 to {}", expressways - 1));
    }
}

}  // namespace

bool EventCheck::operator()(const EventRow& row, Event& event, std::string& fault) {
    Ranges ranges{fault};
    ranges.check("Time", row.time);
    ranges.check("VID", row.car);
    event = {};
    event.time = row.time;
    event.car = row.car;
    switch (row.type) {
        case 0:
            ranges.check("Spd", row.speed, 0, 255);
            check_expressway(row, expressways_, fault);
            ranges.check("Lane", row.lane, 0, exit_lane);
            ranges.check("Dir", row.direction, 0, 1);
            ranges.check("Seg", row.segment, 0, segments - 1);
            ranges.check("Pos", row.position);
            event.position = row.position;
            event.expressway = static_cast<std::uint16_t>(row.expressway);
            event.speed = static_cast<std::uint8_t>(row.speed);
            event.lane = static_cast<std::uint8_t>(row.lane);
            event.direction = static_cast<std::uint8_t>(row.direction);
            event.segment = static_cast<std::uint8_t>(row.segment);
            break;
        case 2:
            event.query = row.query;
            break;
        case 3:
            check_expressway(row, expressways_, fault);
            ranges.check("Day", row.day, 1, days_max);
            event.query = row.query;
            event.expressway = static_cast<std::uint16_t>(row.expressway);
            event.day = static_cast<std::uint8_t>(row.day);
            break;
        case 4:
            break;
        default:
            fault = fmt::format("there is no record of type {}: types are 0, 2, 3 and 4", row.type);
    }
    if (fault.empty() && row.time < latest_) [[unlikely]] {
        fault = fmt::format("Time {} lies before that of a line before it, {}", row.time, latest_);
    }
    if (!fault.empty()) return false;
    event.kind = static_cast<Kind>(row.type);
    latest_ = row.time;
    return true;
}

}  // namespace strid::apps::linear_road
