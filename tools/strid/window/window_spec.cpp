// SPDX-License-Identifier: Apache-2.0
#include "window_spec.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/graph/arguments.hpp>

#include "time_options.hpp"

namespace strid::tool {

namespace {

std::uint64_t read_count(std::string_view text) {
    std::uint64_t count = 0;
    if (detail::read_integer(text, count) != nullptr || count == 0) {
        throw GraphError(fmt::format("--window: '{}' is not a number of records", text));
    }
    return count;
}

/// Why windows of these sizes have bounds that are no whole numbers of the unit; empty: they have
/// not.
std::string misfit(std::string_view asked, std::int64_t unit_ns,
                   std::initializer_list<std::pair<const char*, Duration>> sizes) {
    const auto* const unit = std::find_if(
        units.begin(), units.end(), [unit_ns](const auto& one) { return one.second == unit_ns; });
    for (const auto& [name, size] : sizes) {
        if (size.count() % unit_ns == 0) continue;
        return fmt::format(
            "--window: the {} of '{}' is no whole number of {}, the --unit that integers in --time "
            "count and bounds are written in; ask for whole {}, or read times of ISO 8601",
            name, asked, unit->first, unit->first);
    }
    return {};
}

}  // namespace

Windows read_windows(std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view sizes = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const auto slash = sizes.find('/');
    const std::string_view length = sizes.substr(0, slash);
    const std::string_view slide =
        slash == std::string_view::npos ? length : sizes.substr(slash + 1);
    const bool is_sliding = slash != std::string_view::npos;
    if (!sizes.empty()) {
        if (kind == "tumbling" && !is_sliding) {
            return window::TimeWindows::tumbling(read_duration(length));
        }
        if (kind == "sliding" && is_sliding) {
            return window::TimeWindows::sliding(read_duration(length), read_duration(slide));
        }
        if (kind == "session" && !is_sliding) {
            return window::SessionWindows::with_gap(read_duration(length));
        }
        if (kind == "count") {
            return window::CountWindows::sliding(read_count(length), read_count(slide));
        }
    }
    throw GraphError(fmt::format(
        "--window: '{}' is none of tumbling:10s, sliding:10s/1s, session:30s, count:1000/25",
        text));
}

std::string misfit(std::string_view asked, std::int64_t unit_ns, const Windows& windows) {
    if (const auto* const time = std::get_if<window::TimeWindows>(&windows)) {
        return misfit(asked, unit_ns, {{"length", time->length()}, {"slide", time->slide()}});
    }
    if (const auto* const session = std::get_if<window::SessionWindows>(&windows)) {
        return misfit(asked, unit_ns, {{"gap", session->gap()}});
    }
    return {};
}

}  // namespace strid::tool
