// SPDX-License-Identifier: Apache-2.0
//
// Time by the machine's clock: an operator that stamps each record with the time of its arrival
// here, and derives watermarks from the clock with every run, and at least every `every` without
// records. At the source that is ingress time; right before a window, processing time.
//
// No record is late. A clock is read for each record, about 20 ns.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/time.hpp>
#include <strid/base/watermark.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// A record and the time of its arrival. Windows use `&Stamped<T>::time`.
template <class T>
struct Stamped {
    T record;             ///< As it arrived.
    IngressTime came_in;  ///< By the machine's monotonic clock.

    /// The same as an event time, by which windows count.
    [[nodiscard]] EventTime time() const noexcept { return EventTime::of_ns(came_in.ns()); }
};

namespace operators {

template <class T>
inline constexpr bool has_own_time<Stamped<T>> = true;

template <class T>
class IngressTimeOperator : public OperatorTypes<T, Stamped<T>> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "ingress_time", .hears = events<Clock>, .has = Has::wake_at_ns};

    explicit IngressTimeOperator(Duration every) : every_ns_(every.count()) {}

    void process(T& record, auto& emit) {
        asserted_ns_ = std::max(asserted_ns_, operator_clock_ns());
        Stamped<T> stamped{std::move(record), IngressTime::of_ns(asserted_ns_)};
        emit(stamped);
    }

    [[nodiscard]] Progress on(Clock clock) noexcept {
        asserted_ns_ = std::max(asserted_ns_, clock.now_ns);
        return {EventTime::of_ns(asserted_ns_), false};
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return asserted_ns_ + every_ns_; }
    auto state() { return std::tie(asserted_ns_); }

  private:
    std::int64_t every_ns_;
    std::int64_t asserted_ns_ = 0;
};

}  // namespace operators
}  // namespace strid
