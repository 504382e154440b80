// SPDX-License-Identifier: Apache-2.0
//
// The stream in front of a tested operator (test/harness.hpp): the description that a maker gets,
// and the maker of a function with timers.
//
// Values; threads: any.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/stream_time.hpp>

namespace strid::test {

namespace detail {

/// A member by pointer as a function, which makers call.
template <class TimeOf>
[[nodiscard]] auto as_function(TimeOf time_of) {
    if constexpr (std::is_member_pointer_v<TimeOf>) {
        return std::mem_fn(time_of);
    } else {
        return time_of;
    }
}
template <class TimeOf>
using AsFunction = decltype(as_function(std::declval<TimeOf>()));

}  // namespace detail

/// Records of `T` arrive. `time_of` gives their event time, if the operator asks for it: a member
/// or a function.
template <class T, class TimeOf = NoTime>
[[nodiscard]] Arriving<T, detail::AsFunction<TimeOf>> arriving(TimeOf time_of = {}) {
    return {detail::as_function(std::move(time_of))};
}

/// Records of `T` arrive behind `key_by(key_of)`, each with the hash of its key.
template <class T, class KeyOf, class TimeOf = NoTime>
[[nodiscard]] ArrivingByKey<T, KeyOf, detail::AsFunction<TimeOf>> arriving_by_key(
    KeyOf key_of, TimeOf time_of = {}) {
    return {std::move(key_of), detail::as_function(std::move(time_of))};
}

/// As KeyedStream::process: makes the operator with a copy of `f` for each key, of an
/// ArrivingByKey. `f(record, timers, emit)` emits records of `U`.
template <class U, class F>
[[nodiscard]] auto process(F f) {
    return [f = std::move(f)]<class T, class KeyOf, class TimeOf>(
               ArrivingByKey<T, KeyOf, TimeOf> arriving) {
        if constexpr (operators::takes_process<F, T, U>()) {
            using Key = typename ArrivingByKey<T, KeyOf, TimeOf>::key;
            return window::KeyedProcess<T, KeyOf, Key, F, U>{f, std::move(arriving.key_of)};
        } else {
            return operators::Refused{};
        }
    };
}

namespace detail {

/// The description of the records of an operator that is given without one.
template <class Operator>
consteval auto description_of() {
    if constexpr (operators::HasTypes<Operator>) {
        constexpr bool by_key =
            !std::same_as<typename operators::Unhashed<typename Operator::Arrived>::type,
                          typename Operator::Arrived>;
        static_assert(!by_key,
                      "the records of this operator come with the hash of a key: give the harness "
                      "an arriving_by_key<T>(key_of) as well");
        return std::type_identity<Arriving<typename Operator::Arrived>>{};
    } else {
        return std::type_identity<Arriving<int>>{};  // is_operator() reports the fault
    }
}

/// The operator, or the one that a maker makes of the description.
template <class OperatorOrMaker, class Description>
[[nodiscard]] auto made_for(OperatorOrMaker one, const Description& description) {
    if constexpr (operators::HasTraits<OperatorOrMaker>) {
        (void)description;
        return one;
    } else if constexpr (operators::takes_maker<OperatorOrMaker, Description>()) {
        return std::invoke(std::move(one), description);
    } else {
        return operators::Refused{};
    }
}

}  // namespace detail
}  // namespace strid::test
