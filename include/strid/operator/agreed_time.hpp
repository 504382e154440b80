// SPDX-License-Identifier: Apache-2.0
//
// Whether a window takes the time of a record from where `event_time` took it. The watermark speaks
// of the latter: where the two differ, records are put into windows that the watermark says nothing
// about, and results are wrong without a sign. A program that is compiled with STRID_ASSERT_LEVEL=2
// compares them for every record and ends with an error that names the operator; otherwise nothing
// here costs anything.
//
// What `event_time` took is known to an operator as long as the records pass unchanged: through
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

#include <strid/base/assert.hpp>
#include <strid/base/time.hpp>

namespace strid::operators {

inline constexpr bool compares_times = STRID_ASSERT_LEVEL >= 2;

/// What `event_time` took of a record, whatever the record and the function are; nothing where it
/// is not known. Const: any thread may ask that may ask the function.
struct PromisedTime {
    std::type_index record;
    std::function<std::optional<EventTime>(const void*)> of;
};
using PromisedTimePointer = std::shared_ptr<const PromisedTime>;

/// Null where times are not compared.
template <class T, class TimeOf>
PromisedTimePointer promised_time(const TimeOf& time_of) {
    if constexpr (compares_times) {
        return std::make_shared<const PromisedTime>(
            PromisedTime{typeid(T), [time_of](const void* record) -> std::optional<EventTime> {
                             return std::invoke(time_of, *static_cast<const T*>(record));
                         }});
    } else {
        return nullptr;
    }
}

/// Of a variant whose alternative number `side` is the record.
template <class Either, std::size_t side>
PromisedTimePointer promised_time_of_side(PromisedTimePointer promised) {
    if constexpr (compares_times) {
        if (promised == nullptr) return nullptr;
        return std::make_shared<const PromisedTime>(PromisedTime{
            typeid(Either),
            [promised = std::move(promised)](const void* record) -> std::optional<EventTime> {
                const auto* const one = std::get_if<side>(static_cast<const Either*>(record));
                return one == nullptr ? std::nullopt : promised->of(one);
            }});
    } else {
        return nullptr;
    }
}

/// Of two streams in one: what one of them says where the other says nothing or the same.
[[nodiscard]] PromisedTimePointer promised_time_of_both(PromisedTimePointer one,
                                                        PromisedTimePointer other);

/// Throws strid::Error which says what each of them gave.
[[noreturn]] void throw_times_differ(EventTime promised, EventTime taken);

/// The time function of an operator that relies on the watermark. Where times are not compared it
/// is the function and nothing besides.
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

    /// From now on every time is compared with what `event_time` took. Before the first record.
    void agree_with(PromisedTimePointer promised) noexcept {
        if constexpr (compares_times) promised_ = std::move(promised);
    }

  private:
    struct Nothing {};

    template <class T>
    void compare(const T& record, EventTime time) const {
        if (promised_ == nullptr || promised_->record != typeid(T)) return;
        const std::optional<EventTime> promised = promised_->of(&record);
        if (promised && *promised != time) throw_times_differ(*promised, time);
    }

    [[no_unique_address]] TimeOf time_of_;
    [[no_unique_address]] std::conditional_t<compares_times, PromisedTimePointer, Nothing>
        promised_;
};

}  // namespace strid::operators
