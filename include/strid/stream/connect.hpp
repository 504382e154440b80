// SPDX-License-Identifier: Apache-2.0
//
// Two streams of different types, partitioned by key into one function with timers: orders and
// their payments, of which one may be missing. A key has one copy of the function, and one state,
// for the records of both sides.
//
// Threads: as Stream.
#pragma once

#include <utility>

#include <strid/engine/plan/connected.hpp>
#include <strid/engine/plan/join_checks.hpp>
#include <strid/engine/plan/two_sides.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/keyed_stream.hpp>
#include <strid/stream/options.hpp>
#include <strid/window/timers.hpp>

namespace strid {

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
/// (window/timers.hpp):
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
