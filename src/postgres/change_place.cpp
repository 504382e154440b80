// SPDX-License-Identifier: Apache-2.0
#include "change_place.hpp"

#include <array>

#include <fmt/format.h>

#include <strid/engine/connector/address_options.hpp>

namespace strid::postgres {

namespace {

constexpr std::string_view in_copy = "copy";
constexpr std::string_view in_log = "log";

using detail::read_number;

}  // namespace

std::string text_of(const SavedPlace& saved) {
    const auto& [kind, lsn, mark, rows] = saved.place;
    return fmt::format("{} {} {:x} {} {} {}", kind == ChangePlace::Kind::copy ? in_copy : in_log,
                       text_of_lsn(lsn), mark, rows, saved.system, saved.header);
}

std::optional<SavedPlace> read_place(std::string_view text) {
    std::array<std::string_view, 5> parts;
    for (std::string_view& part : parts) {
        const std::size_t end = text.find(' ');
        if (end == std::string_view::npos) return std::nullopt;
        part = text.substr(0, end);
        text.remove_prefix(end + 1);
    }
    SavedPlace saved{.place = {}, .system = std::string(parts[4]), .header = std::string(text)};
    const auto lsn = read_lsn(parts[1]);
    const bool is_known = parts[0] == in_copy || parts[0] == in_log;
    if (!is_known || !lsn || !read_number(parts[2], saved.place.mark, 16) ||
        !read_number(parts[3], saved.place.rows)) {
        return std::nullopt;
    }
    saved.place.lsn = *lsn;
    saved.place.kind = parts[0] == in_copy ? ChangePlace::Kind::copy : ChangePlace::Kind::log;
    return saved;
}

}  // namespace strid::postgres
