// SPDX-License-Identifier: Apache-2.0
//
// What one record of a window says that another field chooses: `min_by(field<&Bid::bidder>,
// field<&Bid::price>)` is the bidder of the lowest price, `first(field<&Quote::price>,
// field<&Quote::time>)` the price at the earliest time, also where records come out of order.
//
// Of records with the same `by` the older one is chosen, which came first in its pane, but by
// `last` the newer one. Where the answer must not depend on how records of equal `by` came, choose
// by a pair: of the field and an identifier. A record whose `by` is not a number is passed over.
// A window in which all are gives a value of the type's own, not a number for floating-point ones.
//
// A state is the value and what it was chosen by; text is copied. Windows that overlap are kept in
// a monotone deque: O(1) amortised per record and result.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <strid/window/aggregates.hpp>

namespace strid::window {

/// `Before`: std::less<> for the smallest, std::greater<> for the largest. `newer_of_equal`: what
/// came behind replaces what is as good.
template <class Field, class Value, class ByField, class By, class Before, bool newer_of_equal>
    requires(!detail::is_borrowed<Value> && !detail::is_borrowed<By>)
struct Choice {
    struct State {
        By by{};
        Value value{};
        bool present = false;
        friend bool operator==(const State&, const State&) = default;
    };

    [[no_unique_address]] Field field;
    [[no_unique_address]] ByField by_field;

    template <class T>
        requires(std::invocable<const Field&, const T&> && std::invocable<const ByField&, const T&>)
    [[nodiscard]] State lift(const T& record) const {
        State state;
        add(state, record);
        return state;
    }
    template <class T>
    void add(State& state, const T& record) const {
        const auto& by = std::invoke(by_field, record);
        if (!(by == by) || (state.present && !replaces(by, state.by))) return;
        state.by = By(by);
        state.value = Value(std::invoke(field, record));
        state.present = true;
    }
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return covers(newer, older) ? newer : older;
    }
    [[nodiscard]] bool covers(const State& newer, const State& older) const {
        return !older.present || (newer.present && replaces(newer.by, older.by));
    }
    [[nodiscard]] Value lower(const State& state) const {
        if constexpr (std::floating_point<Value>) {
            if (!state.present) return std::numeric_limits<Value>::quiet_NaN();
        }
        return state.value;
    }

  private:
    template <class Newer>
    [[nodiscard]] static bool replaces(const Newer& newer, const By& older) {
        if constexpr (newer_of_equal) return !Before{}(older, newer);
        return Before{}(newer, older);
    }
};

namespace detail {

template <class T, class Before, bool newer_of_equal, class Field, class ByField>
[[nodiscard]] auto choice(Field field, ByField by) {
    using Value = OwnedType<FieldType<Field, T>>;
    using By = OwnedType<FieldType<ByField, T>>;
    return Choice<Field, Value, ByField, By, Before, newer_of_equal>{std::move(field),
                                                                     std::move(by)};
}

}  // namespace detail

/// The `field` of the record whose `by` is smallest. `T`, the record's type, is said where neither
/// names it: `min_by<Bid>(f, g)`.
template <class T, class Field, class ByField>
[[nodiscard]] auto min_by(Field field, ByField by) {
    return detail::choice<T, std::less<>, false>(std::move(field), std::move(by));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class ByField>
[[nodiscard]] auto min_by(Field field, ByField by) {
    return min_by<detail::RecordOf<Field>>(std::move(field), std::move(by));
}
/// The `field` of the record whose `by` is largest.
template <class T, class Field, class ByField>
[[nodiscard]] auto max_by(Field field, ByField by) {
    return detail::choice<T, std::greater<>, false>(std::move(field), std::move(by));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class ByField>
[[nodiscard]] auto max_by(Field field, ByField by) {
    return max_by<detail::RecordOf<Field>>(std::move(field), std::move(by));
}
/// The `field` of the earliest record, by `time_of`; of those of one time the one that came first.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto first(Field field, TimeOf time_of) {
    return detail::choice<T, std::less<>, false>(std::move(field), std::move(time_of));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto first(Field field, TimeOf time_of) {
    return first<detail::RecordOf<Field>>(std::move(field), std::move(time_of));
}
/// The `field` of the latest record, by `time_of`; of those of one time the one that came last.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto last(Field field, TimeOf time_of) {
    return detail::choice<T, std::greater<>, true>(std::move(field), std::move(time_of));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto last(Field field, TimeOf time_of) {
    return last<detail::RecordOf<Field>>(std::move(field), std::move(time_of));
}

}  // namespace strid::window
