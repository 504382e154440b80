// SPDX-License-Identifier: Apache-2.0
//
// Records of the tests of states, and the text of whatever an operator emits: two operators emit
// alike if the texts are equal.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <strid/base/time.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/operator/ingress_time.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/window/spec.hpp>

namespace strid::test {

/// A record with a number as its key.
struct Reading {
    std::uint32_t key = 0;
    EventTime time;
    std::int64_t value = 0;
};
/// A record whose key points to the text of its batch.
struct Line {
    std::string_view key;
    EventTime time;
    std::int64_t value = 0;
};

struct KeyOf {
    auto operator()(const auto& record) const { return record.key; }
};
struct TimeOf {
    EventTime operator()(const auto& record) const { return record.time; }
};
using Either = window::EitherSide<Reading, Reading>;

/// The values in the order in which they came: a state of several words, sensitive to order.
struct InOrderOfArrival {
    using State = std::string;
    static std::string identity() { return {}; }
    static std::string combine(const std::string& older, const std::string& newer) {
        return older + newer;
    }
    static std::string lift(const auto& record) { return std::to_string(record.value) + ","; }
    static std::string lower(const std::string& state) { return state; }
};
/// The same as a fold.
struct FoldInOrder {
    static constexpr bool only_forward = true;
    using State = std::string;
    static std::string identity() { return {}; }
    static void add(std::string& state, const auto& record) {
        state += std::to_string(record.value) + ",";
    }
    static std::string lower(const std::string& state) { return state; }
};
struct SumOfValues {
    static constexpr bool commutative = true;
    using State = std::int64_t;
    static std::int64_t identity() { return 0; }
    static std::int64_t combine(std::int64_t older, std::int64_t newer) { return older + newer; }
    static std::int64_t lift(const auto& record) { return record.value; }
    static std::int64_t lower(std::int64_t state) { return state; }
};

/// One for each type, in a class, so that they find each other.
struct Text {
    static std::string of(std::string_view text) { return std::string(text); }
    static std::string of(std::integral auto number) { return std::to_string(number); }
    static std::string of(EventTime time) { return std::to_string(time.ns()); }
    static std::string of(const Reading& reading) {
        return of(reading.key) + "@" + of(reading.time) + "=" + of(reading.value);
    }
    static std::string of(const Line& line) {
        return of(line.key) + "@" + of(line.time) + "=" + of(line.value);
    }
    template <class Bounds>
        requires requires(const Bounds& bounds) { bounds.start, bounds.end; }
    static std::string of(const Bounds& bounds) {
        return "[" + of(bounds.start) + "," + of(bounds.end) + ")";
    }
    template <class T>
    static std::string of(const Stamped<T>& stamped) {
        return of(stamped.record) + " at " + std::to_string(stamped.came_in.ns());
    }
    template <class K, class V>
    static std::string of(const Keyed<K, V>& keyed) {
        return of(keyed.key) + ":" + of(keyed.value);
    }
    template <class... Types>
    static std::string of(const std::variant<Types...>& one) {
        return std::to_string(one.index()) +
               std::visit([](const auto& value) { return of(value); }, one);
    }
    template <class V>
    static std::string of(const std::optional<V>& value) {
        return value ? of(*value) : "none";
    }
    /// Results of windows, parts of them and updates.
    template <class Row>
        requires requires(const Row& row) { row.key, row.value; } &&
                 (!std::same_as<Row, Reading>) && (!std::same_as<Row, Line>)
    static std::string of(const Row& row) {
        std::string text = of(row.key) + ":" + of(row.value);
        if constexpr (requires { row.window; }) text += of(row.window);
        if constexpr (requires { row.records; }) text += " of " + of(row.records);
        if constexpr (requires { row.start; }) text += " from " + of(row.start);
        if constexpr (std::is_member_object_pointer_v<decltype(&Row::value)> &&
                      requires { row.revision; }) {
            text += " " + std::to_string(static_cast<int>(row.revision));
        }
        return text;
    }
};
std::string text_of(const auto& row) {
    return Text::of(row);
}

}  // namespace strid::test
