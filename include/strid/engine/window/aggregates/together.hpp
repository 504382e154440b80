// SPDX-License-Identifier: Apache-2.0
//
// The class of several aggregates of the same window (window/aggregates/together.hpp).
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

namespace detail {

template <class A>
inline constexpr bool lowers_alone =
    requires(const A& aggregate, const typename A::State& state) { aggregate.lower(state); };

}  // namespace detail

template <Aggregate... A>
struct Together {
    using State = std::tuple<typename A::State...>;
    static constexpr bool commutative = (is_commutative<A> && ...);
    static constexpr bool local_states = (has_local_states<A> || ...);

    std::tuple<A...> parts;

    template <class T>
        requires(AggregateOf<A, T> && ...)
    [[nodiscard]] State lift(const T& record) const {
        return std::apply([&](const auto&... part) { return State(part.lift(record)...); }, parts);
    }
    template <class T>
    void add(State& state, const T& record) const {
        each([&]<std::size_t I>() { add_record(std::get<I>(parts), std::get<I>(state), record); });
    }
    [[nodiscard]] State identity() const {
        return std::apply([](const auto&... part) { return State(part.identity()...); }, parts);
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State sum;
        each([&]<std::size_t I>() {
            std::get<I>(sum) = std::get<I>(parts).combine(std::get<I>(older), std::get<I>(newer));
        });
        return sum;
    }
    [[nodiscard]] State without(const State& total, const State& oldest) const
        requires(Invertible<A> && ...)
    {
        State rest;
        each([&]<std::size_t I>() {
            std::get<I>(rest) = std::get<I>(parts).without(std::get<I>(total), std::get<I>(oldest));
        });
        return rest;
    }
    [[nodiscard]] auto lower(const State& state) const
        requires(detail::lowers_alone<A> && ...)
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple(std::get<I>(parts).lower(std::get<I>(state))...);
        }(std::index_sequence_for<A...>{});
    }

    /// Where the result of one depends on the window.
    template <class Key, class Bounds>
    [[nodiscard]] auto lower(const Key& key, const Bounds& bounds, const State& state) const
        requires(!(detail::lowers_alone<A> && ...))
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple(value_of(std::get<I>(parts), key, bounds, std::get<I>(state))...);
        }(std::index_sequence_for<A...>{});
    }

  private:
    template <class Visit>
    static void each(Visit&& visit) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit.template operator()<I>(), ...);
        }(std::index_sequence_for<A...>{});
    }
};

}  // namespace strid::window
