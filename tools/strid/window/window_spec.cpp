// SPDX-License-Identifier: Apache-2.0
#include "window_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/program/arguments.hpp>

#include "time_options.hpp"

namespace strid::tool {

namespace {

std::uint64_t read_count(std::string_view text) {
    std::uint64_t count = 0;
    if (detail::read_integer(text, count) != nullptr || count == 0) {
        throw Error(fmt::format("'{}' is not a number of records", text));
    }
    return count;
}

/// The bounds of windows are written as whole numbers of this, for a reason that errors give.
struct BoundUnit {
    Duration duration;
    std::string name;
    const char* reason;
};

/// A format is made with one of `units`.
BoundUnit unit_of_integers(const TimeFormat& format) {
    const auto* const unit = std::find_if(units.begin(), units.end(), [&format](const auto& one) {
        return one.second == format.unit_ns;
    });
    return {Duration{format.unit_ns}, unit->first,
            "the --unit that integers in --time count and bounds are written in"};
}

BoundUnit unit_of_pattern(const TimePattern& pattern) {
    using namespace std::chrono_literals;
    static constexpr std::pair<Duration, const char*> names[] = {
        {1s, "seconds"}, {1min, "minutes"},    {1h, "hours"},
        {24h, "days"},   {31 * 24h, "months"}, {366 * 24h, "years"}};
    const Duration unit = pattern.unit();
    const auto* const name =
        std::ranges::find(names, unit, [](const auto& one) { return one.first; });
    return {unit, name != std::end(names) ? name->second : "nanoseconds",
            "the shortest that the pattern of the bounds tells apart"};
}

/// Why windows of these sizes have bounds that are no whole numbers of the unit; empty: all are.
std::string misfit(std::string_view asked, const BoundUnit& unit,
                   std::initializer_list<std::pair<const char*, Duration>> sizes) {
    for (const auto& [name, size] : sizes) {
        if (size % unit.duration == Duration::zero()) continue;
        return fmt::format(
            "--window: the {0} of '{1}' is no whole number of {2}, {3}; ask for whole {2}, or for "
            "--output-times iso",
            name, asked, unit.name, unit.reason);
    }
    return {};
}

/// `1d`, `2w`, `1mo`, `1q`, `1y`; nothing where it is none of them.
std::optional<window::CalendarSpan> calendar_span(std::string_view text) {
    using Unit = window::CalendarSpan::Unit;
    static constexpr std::array<std::pair<std::string_view, Unit>, 10> names = {
        {{"d", Unit::day},
         {"day", Unit::day},
         {"w", Unit::week},
         {"week", Unit::week},
         {"mo", Unit::month},
         {"month", Unit::month},
         {"q", Unit::quarter},
         {"quarter", Unit::quarter},
         {"y", Unit::year},
         {"year", Unit::year}}};
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    for (const auto& [name, unit] : names) {
        if (text == name) return window::CalendarSpan{count, unit};
    }
    return std::nullopt;
}

/// The length of days or weeks in UTC, where all are as long.
Duration length_in_utc(const window::CalendarSpan& span) {
    const bool of_weeks = span.unit() == window::CalendarSpan::Unit::week;
    return read_duration(fmt::format("{}{}", span.count(), of_weeks ? "w" : "d"));
}

window::TimeWindows time_windows(std::string_view length, std::string_view slide,
                                 const TimeZone& zone, Duration offset) {
    const auto long_length = calendar_span(length);
    const auto long_slide = calendar_span(slide);
    if (long_length && long_slide) {
        if (!zone.is_utc() || !long_length->is_of_days() || !long_slide->is_of_days()) {
            return window::TimeWindows::calendar(*long_length, *long_slide, zone, offset);
        }
        constexpr Duration first_monday = std::chrono::days{-3};  // before Thursday, 1970-01-01
        if (long_slide->unit() == window::CalendarSpan::Unit::week) offset += first_monday;
        return window::TimeWindows::sliding(length_in_utc(*long_length), length_in_utc(*long_slide),
                                            offset);
    }
    const auto is_of_zone = [](std::string_view size) {
        return std::any_of(size.begin(), size.end(), [](char c) { return c == 'd' || c == 'w'; });
    };
    if (!zone.is_utc() && (is_of_zone(length) || is_of_zone(slide))) {
        throw Error(fmt::format(
            "'{}' and '{}': days of a --zone have 23 to 25 hours: whole days and weeks, or hours",
            length, slide));
    }
    return window::TimeWindows::sliding(read_duration(length), read_duration(slide), offset);
}

Windows windows_of(std::string_view text, const TimeZone& zone, Duration offset) {
    const auto colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view sizes = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const auto slash = sizes.find('/');
    const std::string_view length = sizes.substr(0, slash);
    const std::string_view slide =
        slash == std::string_view::npos ? length : sizes.substr(slash + 1);
    const bool is_sliding = slash != std::string_view::npos;
    const bool is_of_time =
        (kind == "tumbling" && !is_sliding) || (kind == "sliding" && is_sliding);
    if (!sizes.empty() && is_of_time) return time_windows(length, slide, zone, offset);
    if (offset != Duration::zero()) {
        throw Error(
            fmt::format("'{}': --offset is for tumbling and sliding windows of time", text));
    }
    if (!sizes.empty() && kind == "session" && !is_sliding) {
        return window::SessionWindows::with_gap(read_duration(length));
    }
    if (!sizes.empty() && kind == "count") {
        return window::CountWindows::sliding(read_count(length), read_count(slide));
    }
    throw Error(
        fmt::format("'{}' is none of tumbling:10s, tumbling:1d, sliding:10s/1s, session:30s, "
                    "count:1000/25",
                    text));
}

}  // namespace

Windows read_windows(std::string_view text, const TimeZone& zone, Duration offset) {
    try {
        return windows_of(text, zone, offset);
    } catch (const Error& error) {
        throw GraphError(fmt::format("--window: {}", error.what()));
    }
}

std::string misfit(std::string_view asked, const TimeFormat& format, Duration offset,
                   const Windows& windows) {
    const TimePattern* const pattern = format.pattern_of_bounds();
    const BoundUnit unit =
        pattern != nullptr ? unit_of_pattern(*pattern) : unit_of_integers(format);
    if (const auto* const time = std::get_if<window::TimeWindows>(&windows)) {
        if (!time->is_calendar()) {
            return misfit(
                asked, unit,
                {{"length", time->length()}, {"slide", time->slide()}, {"offset", time->offset()}});
        }
        // Offsets of zones are whole seconds, so that bounds fit a unit of a second or less; a
        // pattern writes the days of the zone.
        const bool is_local = pattern != nullptr || format.zone.is_utc();
        const Duration begin = is_local ? offset : offset + std::chrono::seconds{1};
        return misfit(asked, unit, {{"beginning", begin}});
    }
    if (const auto* const session = std::get_if<window::SessionWindows>(&windows)) {
        return misfit(asked, unit, {{"gap", session->gap()}});
    }
    return {};
}

}  // namespace strid::tool
