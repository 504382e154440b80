// SPDX-License-Identifier: Apache-2.0
//
// The columns of a record that is written: its fields, nested ones included, in their order. A
// result of windows is its key, the start and the end of the window, and its value, of which a
// tuple or an aggregate has several columns. Stateless.
#pragma once

#include <tuple>
#include <type_traits>

#include <boost/pfr/core.hpp>

#include <strid/connector/fields.hpp>
#include <strid/engine/base/members.hpp>

namespace strid::detail {

/// Calls `visit(column)` with each of them.
template <class Value, class Visit>
constexpr void visit_columns(const Value& value, Visit&& visit) {
    if constexpr (SingleField<Value>) {
        visit(value);
    } else {
        static_assert(is_tuple<Value> || std::is_aggregate_v<Value>,
                      "a column is a number, an enumeration, text, a time, std::optional of one of "
                      "these, a type with from_csv and to_csv, or an aggregate, pair or tuple");
        const auto each = [&visit](const auto&... fields) { (visit_columns(fields, visit), ...); };
        if constexpr (is_tuple<Value>) {
            std::apply(each, value);
        } else if constexpr (has_members<Value>) {
            visit_members(value, each);
        } else {
            std::apply(each, boost::pfr::structure_tie(value));
        }
    }
}

/// Whether a record has columns, by its own fields.
template <class Value>
inline constexpr bool has_columns =
    SingleField<Value> || is_tuple<Value> || (std::is_aggregate_v<Value> && std::is_class_v<Value>);

}  // namespace strid::detail
