// SPDX-License-Identifier: Apache-2.0
//
// The functions of a stream about time: event time and ingress time.
//
// Threads: as Stream.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/ingress_time.hpp>
#include <strid/operator/source_time.hpp>
#include <strid/stream/options.hpp>

namespace strid::graph {

/// A base of streams of `T` with the time `Time`.
template <class Self, class T, class Time>
class Timeable {
  public:
    /// Gives the stream event time. `time_of` returns the time of a record. `strategy` draws the
    /// watermark: MonotonousTime, BoundedDisorder, PunctuatedTime, or a type of the program. The
    /// type of the stream carries `time_of`; later windows and joins use it. After `idle_after`
    /// without records the stream is idle and does not hold back the watermark of others. A pointer
    /// to a function is slower than a lambda, which is compiled into the loop.
    template <class TimeOf, class Strategy>
    auto event_time(TimeOf time_of, Strategy strategy, EventTimeOptions options = {}) && {
        if constexpr (operators::takes_time<TimeOf, T>() &&
                      operators::takes_strategy<Strategy, T>()) {
            check_state_owns_text<Strategy>();
            using Operator = operators::EventTimeOperator<T, TimeOf, Strategy>;
            return self().apply(
                Operator{std::move(time_of), std::move(strategy), options.idle_after},
                {.name = std::move(options.name)});
        }
    }
    /// The same for a member, `event_time<&Trip::at>(BoundedDisorder{5s})`: the faster way.
    template <auto Member, class Strategy>
        requires std::is_member_pointer_v<decltype(Member)>
    auto event_time(Strategy strategy, EventTimeOptions options = {}) && {
        return self().event_time(field<Member>, std::move(strategy), std::move(options));
    }

    /// Gives the time function of records that have another type than at `event_time`. Later
    /// windows and joins use it; the watermark is unchanged. Adds no operator.
    template <class TimeOf>
    [[nodiscard]] auto timed_by(TimeOf time_of) && {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            return self().carrying(std::move(time_of));
        }
    }
    /// As above, by a member of the record.
    template <auto Member>
        requires std::is_member_pointer_v<decltype(Member)>
    [[nodiscard]] auto timed_by() && {
        return self().timed_by(field<Member>);
    }

    /// Stamps the records with the machine's clock: the result is a stream of Stamped<T>, and
    /// windows by that time fire as the clock goes on. Call it at the source for ingress time,
    /// right before a window for processing time. Behind a source that blocks, call `separate()`
    /// first.
    [[nodiscard]] auto ingress_time(IngressTimeOptions options = {}) && {
        if (options.every.count() <= 0) throw GraphError("the period of a clock must be positive");
        return self().apply(operators::IngressTimeOperator<T>{options.every},
                            {.name = std::move(options.name)});
    }

  private:
    [[nodiscard]] Self&& self() noexcept { return static_cast<Self&&>(*this); }
};

}  // namespace strid::graph
