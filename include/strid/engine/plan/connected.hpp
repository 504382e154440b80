// SPDX-License-Identifier: Apache-2.0
//
// The checks of `connect` (stream/connect.hpp), and its function as one of records of both streams.
//
// Threads: the function only in the task of its node.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/operator/callable.hpp>
#include <strid/window/timers.hpp>

namespace strid::graph {

/// As operators/checks.hpp.
template <class F, class L, class R, class U>
consteval bool takes_connected() {
    if constexpr (!std::copy_constructible<F>) {
        return operators::can_be_copied<F>();
    } else if constexpr (!ConnectFunction<F, L, R, U>) {
        static_assert(ConnectFunction<F, L, R, U>,
                      "connect(...).process<U> needs a function F of the records of both sides: "
                      "void f(const L&, Timers&, auto& emit) and void f(const R&, Timers&, auto& "
                      "emit), which call emit(U)");
        return false;
    } else if constexpr (!operators::has_right_timers<F, U>()) {
        return false;
    } else if constexpr (!operators::keeps_contract<F, const L&, Timers&, Emitter<U>&>()) {
        return false;
    } else {
        return operators::keeps_contract<F, const R&, Timers&, Emitter<U>&>();
    }
}

template <class L, class R>
consteval bool takes_two_types() {
    static_assert(
        !std::same_as<L, R>,
        "connect needs streams of two types, so that its function distinguishes them: map one "
        "of them to a type of its own, or merge them where it does not matter");
    return !std::same_as<L, R>;
}

/// A function of either as one of the records in which both travel.
template <class L, class R, class F, class U>
struct OfEither {
    static constexpr FunctionTraits traits{
        .hears = operators::traits_of_function<F>.hears.template among<Opened>(),
        .sets_no_timers = true};
    /// That has been asked of the function itself.
    static constexpr bool points_to_text = false;

    F function;

    void on(const Opened& opened)
        requires operators::FunctionHears<F, Opened>
    {
        function.on(opened);
    }
    auto state() { return operators::state_of_function(function); }
    void operator()(const window::EitherSide<L, R>& record, Timers& timers, Emitter<U>& emit) {
        if (const auto* const left = std::get_if<0>(&record)) {
            function(*left, timers, emit);
        } else {
            function(*std::get_if<1>(&record), timers, emit);
        }
    }
    template <class Time>
        requires operators::HearsTimers<F, Time, U>
    void on_timer(Time time, Timers& timers, Emitter<U>& emit) {
        function.on_timer(time, timers, emit);
    }
};

}  // namespace strid::graph
