// SPDX-License-Identifier: Apache-2.0
//
// Two streams of different types, partitioned by key into one function with timers: orders and
// their payments, of which one may be missing. A key has one copy of the function, and one state,
// for the records of both sides.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/operator/callable.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/keyed_stream.hpp>
#include <strid/stream/options.hpp>
#include <strid/stream/two_sides.hpp>
#include <strid/window/keyed_process.hpp>
#include <strid/window/pairs.hpp>

namespace strid {

/// A ProcessFunction of two types: called as `f(const L&, timers, emit)` and as
/// `f(const R&, timers, emit)`.
template <class F, class L, class R, class U>
concept ConnectFunction = ProcessFunction<F, L, U> && ProcessFunction<F, R, U>;

namespace graph {

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

}  // namespace graph

/// The result of `connect`.
template <class Left, class Right, class Keys>
class [[nodiscard]] Connected {
    using L = typename Left::record_type;
    using R = typename Right::record_type;

  public:
    /// Made by `connect`.
    Connected(Left left, Right right, Keys keys)
        : left_(std::move(left)), right_(std::move(right)), keys_(std::move(keys)) {}

    /// As KeyedStream::process: one copy of `f` for each key, which sees the records of both sides
    /// in the order in which they come; `U` is what it emits.
    ///
    /// Throws GraphError for streams of two graphs, and for timers of event time where one of the
    /// streams has none.
    template <class U, class F>
    auto process(F f, const OperatorOptions& options = {}) && {
        if constexpr (graph::takes_connected<F, L, R, U>()) {
            return graph::two_sides(std::move(left_), std::move(right_), std::move(keys_),
                                    options.name)
                .by_key()
                .template process<U>(graph::OfEither<L, R, F, U>{std::move(f)}, options);
        }
    }

  private:
    Left left_;
    Right right_;
    Keys keys_;
};

/// Two streams of different types, partitioned by key into one function with timers
/// (window/keyed_process.hpp):
///
///     struct Unpaid {
///         void operator()(const Order& order, Timers& timers, Emitter<Alarm>& emit);
///         void operator()(const Payment& payment, Timers& timers, Emitter<Alarm>& emit);
///         void on_timer(EventTime time, Timers& timers, Emitter<Alarm>& emit);
///         ...  // of one order
///     };
///     connect(std::move(orders), std::move(payments), on<&Order::number, &Payment::order>())
///         .process<Alarm>(Unpaid{})
///
/// Records of the two sides come in no particular order between them. A function uses a timer to
/// wait for records of the other side; the watermark is the minimum of both.
template <class Left, class Right, class Keys>
auto connect(Left&& left, Right&& right, Keys keys) {
    if constexpr (graph::takes_two_streams<Left, Right>()) {
        using L = typename Left::record_type;
        using R = typename Right::record_type;
        if constexpr (graph::takes_two_types<L, R>() && graph::takes_join_keys<Keys, L, R>()) {
            if constexpr (graph::has_no_ties<Keys>()) {
                return Connected<Left, Right, Keys>{std::move(left), std::move(right),
                                                    std::move(keys)};
            }
        }
    }
}

}  // namespace strid
