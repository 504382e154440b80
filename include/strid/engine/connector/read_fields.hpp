// SPDX-License-Identifier: Apache-2.0
//
// Reads the texts of a row as the fields of a record.
#pragma once

#include <cstddef>
#include <string_view>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/fields.hpp>

namespace strid {

namespace detail {

/// Why a row is no record; no reason: it is one.
struct FieldFault {
    std::size_t field;
    CsvFault reason;
};

/// Reads `text_of(index)` into each field, up to the first fault.
template <class T, class TextOf>
FieldFault read_fields(T& record, const TextOf& text_of, const NumberFormat& numbers) {
    FieldFault fault{0, nullptr};
    visit_fields(record, [&](std::size_t index, auto& field) {
        fault = {index, read_csv_value(text_of(index), field, numbers)};
        return fault.reason == nullptr;
    });
    return fault;
}

}  // namespace detail

}  // namespace strid
