// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a table in plain rows (strid/engine/connector/plain_fields.hpp). Stateless.
#pragma once

#include <strid/engine/connector/plain_fields.hpp>

#include "table_number.hpp"

namespace strid::tool {

using detail::FieldEnds;
using detail::read_whole_number;

/// As detail::read_short_number(). False: not sure.
inline bool read_short_number(const char* begin, const char* end, TableNumber& number) noexcept {
    detail::ShortNumber read;
    if (!detail::read_short_number(begin, end, read)) return false;
    if (read.is_decimal) {
        number.value.decimal = read.decimal;
        number.kind = ValueKind::decimal;
    } else {
        number.value.integer = read.integer;
        number.kind = ValueKind::integer;
    }
    return true;
}

}  // namespace strid::tool
