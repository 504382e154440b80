// SPDX-License-Identifier: Apache-2.0
//
// The class of the aggregates that choose a record by a field (window/aggregates/choice.hpp).
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/lifts_by_adding.hpp>

namespace strid::window {

/// `Before`: std::less<> for the smallest, std::greater<> for the largest. `newer_of_equal`: what
/// came behind replaces what is as good.
template <class Field, class Value, class ByField, class By, class Before, bool newer_of_equal>
    requires(!detail::is_borrowed<Value> && !detail::is_borrowed<By>)
struct Choice : LiftsByAdding<Choice<Field, Value, ByField, By, Before, newer_of_equal>> {
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
    void add(State& state, const T& record) const {
        const auto& by = std::invoke(by_field, record);
        if (!(by == by) || (state.present && !replaces(by, state.by))) return;
        state.by = By(by);
        state.value = Value(std::invoke(field, record));
        state.present = true;
    }
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
    return Choice<Field, Value, ByField, By, Before, newer_of_equal>{
        {}, std::move(field), std::move(by)};
}

}  // namespace detail

}  // namespace strid::window
