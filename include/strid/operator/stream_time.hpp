// SPDX-License-Identifier: Apache-2.0
//
// When the records of a stream happened, as the type of the stream says it. `event_time` names the
// function once; the stream carries it as long as its records are of the same type. Records of
// another type have their natural time, that of a window's result or of a stamped record, or none
// that is known; `timed_by` says it then.
//
// Compile time only, but for functions that have captures.
#pragma once

#include <concepts>
#include <type_traits>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/message/batch.hpp>

namespace strid {

/// Of a stream of which it is not known when its records happened.
struct NoTime {};

/// Of records that say it themselves: `EventTime time() const`.
struct OwnTime {
    /// `record.time()`.
    template <class T>
    [[nodiscard]] constexpr EventTime operator()(const T& record) const noexcept {
        return record.time();
    }
};

namespace operators {

/// Records of the library's that say when they happened. Specialised where they are defined.
template <class T>
inline constexpr bool has_own_time = false;

template <class T>
using NaturalTime = std::conditional_t<has_own_time<T>, OwnTime, NoTime>;

template <class T>
struct Unhashed {
    using type = T;
};
template <class T>
struct Unhashed<message::Hashed<T>> {
    using type = T;
};

/// The time of what an operator emits, to which records of `Arrived` come whose time is `Time`.
template <class Emitted, class Arrived, class Time>
using TimeBehind = std::conditional_t<
    std::same_as<typename Unhashed<Emitted>::type, typename Unhashed<Arrived>::type>, Time,
    NaturalTime<Emitted>>;

/// The time of streams that become one: what they agree on. Where one of them has none that is
/// known, so has the whole.
template <class Time, class... Others>
consteval bool agree_on_time() {
    constexpr bool agree = ((std::same_as<Time, Others> || std::same_as<Time, NoTime> ||
                             std::same_as<Others, NoTime>)&&...);
    static_assert(agree,
                  "streams that are merged take their time from one function: give event_time the "
                  "same, or say it of each of them, timed_by<&Record::time>()");
    return agree;
}

/// Throws GraphError where streams that become one have pointers to two functions.
template <class Time, class Other>
void check_same_time(const Time& one, const Other& other) {
    if constexpr (std::same_as<Time, Other> && std::is_pointer_v<Time>) {
        if (one != other) {
            throw GraphError(
                "streams that are merged take their time from one function: these have two");
        }
    }
}

}  // namespace operators
}  // namespace strid
