// SPDX-License-Identifier: Apache-2.0
//
// The functions of a stream about time: event time, ingress time, and putting records in order.
//
// Threads: as Stream.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/graph/alternatives.hpp>
#include <strid/graph/options.hpp>
#include <strid/operator/aligned.hpp>
#include <strid/operator/checks.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/ingress_time.hpp>
#include <strid/operator/source_time.hpp>
#include <strid/operator/time_order.hpp>

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
            return self()
                .then(Operator{time_of, std::move(strategy), options.idle_after},
                      {.name = std::move(options.name)})
                .carrying(std::move(time_of));
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

    /// Sources with the same alignment keep step: each waits for the slowest of them by event time,
    /// so call `event_time` before. Copies of `alignment` are the same alignment.
    [[nodiscard]] auto aligned(Alignment alignment, const OperatorOptions& options = {}) && {
        return self().then(operators::Aligned<T>{std::move(alignment)}, options);
    }

    /// Puts the records in the order of event time, equal times by `tie_of`, then by input, then as
    /// they came in it: the same in every run. With a `tie_of`, or right behind the sources, the
    /// order is also the same at any parallelism. Each record waits until the watermark has passed
    /// it; late records are dropped and counted. Needs `event_time`. Has one replica, because each
    /// of several would have its own order.
    template <class TieOf = operators::ByArrival>
    auto in_order_of_time(TieOf tie_of = {}, const OperatorOptions& options = {}) && {
        if constexpr (operators::knows_time<Time, T>()) {
            using Order = operators::TimeOrder<T, Time, TieOf>;
            return self().then(Order{self().time(), std::move(tie_of)}, options);
        }
    }
    /// The same with the late records as a stream of their own: `auto [records, late] = ...`.
    auto in_order_of_time(LateApart, const OperatorOptions& options = {}) && {
        return self().in_order_of_time(operators::ByArrival{}, late_apart, options);
    }
    /// The same, with records of one time in the order of `tie_of`.
    template <class TieOf>
    auto in_order_of_time(TieOf tie_of, LateApart, const OperatorOptions& options = {}) && {
        if constexpr (operators::knows_time<Time, T>()) {
            using Order = operators::TimeOrder<T, Time, TieOf>;
            Time time = self().time();
            return graph::records_and_late<T>(
                self().then(graph::with_late<T>(Order{time, std::move(tie_of)}), options),
                options.name, time);
        }
    }

    /// Puts the records in the order of event time without watermarks: each record waits as long as
    /// the greatest delay so far. A record with a greater delay is dropped and counted as late
    /// (paper 2, the probabilistic mode). Behind several inputs, which records are late depends on
    /// timing. Windows may follow: the stream has event time.
    template <class TimeOf>
    auto k_slack(TimeOf time_of, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            return self()
                .then(operators::KSlack<T, TimeOf>{time_of}, options)
                .carrying(std::move(time_of));
        }
    }
    /// The same with the late records as a stream of their own: `auto [records, late] = ...`.
    template <class TimeOf>
    auto k_slack(TimeOf time_of, LateApart, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            return graph::records_and_late<T>(
                self().then(graph::with_late<T>(operators::KSlack<T, TimeOf>{time_of}), options),
                options.name, time_of);
        }
    }

    /// Stamps the records with the machine's clock: the result is a stream of Stamped<T>, and
    /// windows by that time fire as the clock goes on. Call it at the source for ingress time,
    /// right before a window for processing time. Behind a source that blocks, call `separate()`
    /// first.
    [[nodiscard]] auto ingress_time(IngressTimeOptions options = {}) && {
        if (options.every.count() <= 0) throw GraphError("the period of a clock must be positive");
        return self().then(operators::IngressTimeOperator<T>{options.every},
                           {.name = std::move(options.name)});
    }

  private:
    [[nodiscard]] Self&& self() noexcept { return static_cast<Self&&>(*this); }
};

}  // namespace strid::graph
