// SPDX-License-Identifier: Apache-2.0
//
// The id of an entry of a stream, `MS-NUMBER`: the milliseconds since 1970 at which the server has
// added it, and a number among those of one millisecond. Ids of a stream only grow. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <strid/engine/connector/address_options.hpp>

namespace strid::redis {

using detail::read_number;

struct EntryId {
    std::uint64_t ms = 0;
    std::uint64_t number = 0;

    auto operator<=>(const EntryId&) const = default;
    /// As Redis writes it.
    [[nodiscard]] std::string text() const;
    /// The greatest one that is smaller; that of no entry, 0-0, has none.
    [[nodiscard]] EntryId before() const noexcept;
};

/// `MS-NUMBER`, or `MS` for its number 0; none: the text is no id.
[[nodiscard]] std::optional<EntryId> read_entry_id(std::string_view text);

}  // namespace strid::redis
