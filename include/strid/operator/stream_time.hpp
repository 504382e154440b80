// SPDX-License-Identifier: Apache-2.0
//
// The event time of a stream's records, as part of the type of the stream. `event_time` names the
// function once; the stream keeps it as long as its records are of the same type. Records of
// another type have their natural time (WindowResult with bounds of time, WindowUpdate, Stamped) or
// none; `timed_by` names it then. A type of the program's own has no natural time, even with a
// member `time()`: `timed_by(strid::OwnTime{})` names that.
//
// Streams that are merged keep a time that all of them have. If one of them has none, the merged
// stream has none. Functions of different types do not compile; pointers to different functions are
// a GraphError.
//
// A program writes these types only where it names the type of a stream, as the parameter of a
// function: StreamTimedBy<Request, TimeOf>.
//
// Compile time only, except for functions with captures.
#pragma once

#include <concepts>
#include <type_traits>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/message/batch.hpp>

namespace strid {

/// For a stream whose records have no known event time: what needs one does not compile behind it.
struct NoTime {};

/// For records that have their own: `EventTime time() const`. That of the library's records, and
/// what `timed_by` may be given for others.
struct OwnTime {
    /// `record.time()`.
    template <class T>
    [[nodiscard]] constexpr EventTime operator()(const T& record) const noexcept {
        return record.time();
    }
};

namespace operators {

/// The library's records that have an event time. Specialised where they are defined.
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

/// The event time of emitted records, if the arriving records of `Arrived` have the time `Time`.
template <class Emitted, class Arrived, class Time>
using TimeBehind = std::conditional_t<
    std::same_as<typename Unhashed<Emitted>::type, typename Unhashed<Arrived>::type>, Time,
    NaturalTime<Emitted>>;

/// The time of streams that are merged: the one that they share. None, if one of them has none.
template <class Time, class... Others>
consteval bool agree_on_time() {
    constexpr bool agree = ((std::same_as<Time, Others> || std::same_as<Time, NoTime> ||
                             std::same_as<Others, NoTime>)&&...);
    static_assert(agree,
                  "streams that are merged take their time from one function: give event_time the "
                  "same, or say it of each of them, timed_by<&Record::time>()");
    return agree;
}

/// Throws GraphError if merged streams have pointers to two functions.
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
