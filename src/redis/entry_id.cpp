// SPDX-License-Identifier: Apache-2.0
#include "entry_id.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace strid::redis {

std::string EntryId::text() const {
    return fmt::format("{}-{}", ms, number);
}

EntryId EntryId::before() const noexcept {
    if (number != 0) return {ms, number - 1};
    if (ms != 0) return {ms - 1, std::numeric_limits<std::uint64_t>::max()};
    return {};
}

std::optional<EntryId> read_entry_id(std::string_view text) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    EntryId id;
    if (!read_number(text.substr(0, dash), id.ms)) return std::nullopt;
    if (dash != text.size() && !read_number(text.substr(dash + 1), id.number)) return std::nullopt;
    return id;
}

}  // namespace strid::redis
