// SPDX-License-Identifier: Apache-2.0
//
// Checks that a window takes the time of a record from the same place as `event_time`. The
// watermark is about the latter: if the two differ, the watermark says nothing about the records of
// a window, and results are silently wrong. A program compiled with STRID_ASSERT_LEVEL=2 compares
// them for every record, and a difference ends it with an error that names the operator; otherwise
// the check costs nothing.
//
// The time that `event_time` took is compared for as long as the records pass unchanged: through
// filters, edges, splits and merges of the same stream, and into joins.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>

#include <strid/base/time.hpp>
#include <strid/engine/base/assert.hpp>

namespace strid::operators {

inline constexpr bool compares_times = STRID_ASSERT_LEVEL >= 2;

/// The time that `event_time` takes of a record, with the types of record and function erased;
/// nothing if it is not known. Const: it may be called by any thread that may call the function.
struct AssignedTime {
    std::type_index record;
    std::function<std::optional<EventTime>(const void*)> of;
};
using AssignedTimePointer = std::shared_ptr<const AssignedTime>;

/// Null if times are not compared.
template <class T, class TimeOf>
AssignedTimePointer assigned_time(const TimeOf& time_of) {
    if constexpr (compares_times) {
        return std::make_shared<const AssignedTime>(
            AssignedTime{typeid(T), [time_of](const void* record) -> std::optional<EventTime> {
                             return std::invoke(time_of, *static_cast<const T*>(record));
                         }});
    } else {
        return nullptr;
    }
}

/// For a variant in which alternative number `side` is the record.
template <class Either, std::size_t side>
AssignedTimePointer assigned_time_of_side(AssignedTimePointer assigned) {
    if constexpr (compares_times) {
        if (assigned == nullptr) return nullptr;
        return std::make_shared<const AssignedTime>(AssignedTime{
            typeid(Either),
            [assigned = std::move(assigned)](const void* record) -> std::optional<EventTime> {
                const auto* const one = std::get_if<side>(static_cast<const Either*>(record));
                return one == nullptr ? std::nullopt : assigned->of(one);
            }});
    } else {
        return nullptr;
    }
}

/// For two streams that become one: the time of one of them if the other has none or the same.
[[nodiscard]] AssignedTimePointer assigned_time_of_both(AssignedTimePointer one,
                                                        AssignedTimePointer other);

/// Throws strid::Error with both times.
[[noreturn]] void throw_times_differ(EventTime assigned, EventTime taken);

/// The time function of an operator that relies on the watermark. If times are not compared it is
/// the function and nothing more.
template <class TimeOf>
class AgreedTime {
  public:
    AgreedTime(TimeOf time_of) : time_of_(std::move(time_of)) {}  // NOLINT: stands for it

    template <class T>
    [[gnu::always_inline]] EventTime operator()(const T& record) const {
        const EventTime time = std::invoke(time_of_, record);
        if constexpr (compares_times) compare(record, time);
        return time;
    }

    /// From now on compares every time with that of `event_time`. Before the first record.
    void agree_with(AssignedTimePointer assigned) noexcept {
        if constexpr (compares_times) assigned_ = std::move(assigned);
    }

  private:
    struct Nothing {};

    template <class T>
    void compare(const T& record, EventTime time) const {
        if (assigned_ == nullptr || assigned_->record != typeid(T)) return;
        const std::optional<EventTime> assigned = assigned_->of(&record);
        if (assigned && *assigned != time) throw_times_differ(*assigned, time);
    }

    [[no_unique_address]] TimeOf time_of_;
    [[no_unique_address]] std::conditional_t<compares_times, AssignedTimePointer, Nothing>
        assigned_;
};

}  // namespace strid::operators
