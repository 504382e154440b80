// SPDX-License-Identifier: Apache-2.0
//
// The fields of a record, in order, without a macro or a registration: a plain aggregate (through
// Boost.PFR), a tuple or a pair, or a single value. Stateless.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include <strid/base/time.hpp>

namespace strid {

/// For a type of your own that one column holds: write beside it
///     bool from_csv(std::string_view text, Colour& value);   // false: text is no Colour
///     void to_csv(std::string& out, const Colour& value);    // appends; quoting is done for you
template <class T>
concept CustomCsvField = requires(std::string_view text, T& value) {
    { from_csv(text, value) } -> std::same_as<bool>;
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_char_array = false;
template <std::size_t size>
inline constexpr bool is_char_array<std::array<char, size>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... Fields>
inline constexpr bool is_tuple<std::tuple<Fields...>> = true;
template <class First, class Second>
inline constexpr bool is_tuple<std::pair<First, Second>> = true;

/// A point in time: a whole number of nanoseconds.
template <class T>
inline constexpr bool is_time_point = false;
template <class Domain>
inline constexpr bool is_time_point<TimePoint<Domain>> = true;

/// A type that stands in one column.
template <class T>
concept SingleField = CustomCsvField<T> || std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                      std::same_as<T, std::string_view> || std::same_as<T, std::string> ||
                      is_optional<T> || is_char_array<T> || is_time_point<T>;

/// Whether one column can be read as a `T`.
template <class T>
consteval bool can_be_read() {
    if constexpr (is_optional<T>) {
        return can_be_read<typename T::value_type>();
    } else {
        return SingleField<T>;
    }
}
template <class T>
consteval bool each_can_be_read() {
    if constexpr (is_tuple<T>) {
        return []<class... Fields>(std::type_identity<std::tuple<Fields...>>) {
            return (can_be_read<Fields>() && ...);
        }(std::type_identity<decltype(std::tuple_cat(std::declval<T>()))>{});
    } else {
        return []<std::size_t... index>(std::index_sequence<index...>) {
            return (can_be_read<boost::pfr::tuple_element_t<index, T>>() && ...);
        }(std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
    }
}

/// Rows can be read as records of type `T`. Does not compile otherwise.
template <class T>
consteval bool takes_rows() {
    constexpr bool has_fields =
        SingleField<T> || is_tuple<T> || (std::is_aggregate_v<T> && std::is_class_v<T>);
    if constexpr (!has_fields) {
        static_assert(has_fields,
                      "the record of a row is a plain aggregate, without private members and "
                      "constructors, a tuple, a pair or a single value");
        return false;
    } else if constexpr (SingleField<T>) {
        static_assert(
            can_be_read<T>(),
            "a field of a row is a number, an enumeration, text, a time, std::optional of "
            "one of these, or a type with from_csv");
        return can_be_read<T>();
    } else {
        static_assert(
            each_can_be_read<T>(),
            "a field of a row is a number, an enumeration, text, a time, std::optional of "
            "one of these, or a type with from_csv");
        return each_can_be_read<T>();
    }
}

/// Calls `visit(index, field)` for each field until one answers false. True: none did.
template <class Record, class Visit>
constexpr bool visit_fields(Record& record, Visit&& visit) {
    using Plain = std::remove_const_t<Record>;
    // Inlined also where a program reads the same record in two places: alone and by ranges.
    const auto all = [&visit](auto&... fields) __attribute__((always_inline)) {
        std::size_t index = 0;
        return (visit(index++, fields) && ...);
    };
    if constexpr (SingleField<Plain>) {
        return all(record);
    } else if constexpr (is_tuple<Plain>) {
        return std::apply(all, record);
    } else {
        return std::apply(all, boost::pfr::structure_tie(record));
    }
}

template <class Record>
constexpr std::size_t field_count() {
    if constexpr (SingleField<Record>) {
        return 1;
    } else if constexpr (is_tuple<Record>) {
        return std::tuple_size_v<Record>;
    } else {
        return boost::pfr::tuple_size_v<Record>;
    }
}

template <class Field>
constexpr bool field_holds_text() {
    if constexpr (is_optional<Field>) {
        return field_holds_text<typename Field::value_type>();
    } else {
        return CustomCsvField<Field> || std::same_as<Field, std::string_view>;
    }
}

template <class Record, std::size_t... index>
constexpr bool any_field_holds_text(std::index_sequence<index...>) {
    if constexpr (SingleField<Record>) {
        return field_holds_text<Record>();
    } else if constexpr (is_tuple<Record>) {
        return (field_holds_text<std::remove_cv_t<std::tuple_element_t<index, Record>>>() || ...);
    } else {
        return (field_holds_text<boost::pfr::tuple_element_t<index, Record>>() || ...);
    }
}

/// False when no field of a record can point into the text it was read from.
template <class Record>
inline constexpr bool holds_text =
    any_field_holds_text<Record>(std::make_index_sequence<field_count<Record>()>{});

}  // namespace detail
}  // namespace strid
