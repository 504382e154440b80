// SPDX-License-Identifier: Apache-2.0
//
// The joins of a stream, as its functions. They are defined in stream/join.hpp and
// stream/as_of_join.hpp, which include this; <strid/stream/graph.hpp> has both.
//
// Threads: as Stream.
#pragma once

#include <utility>

#include <strid/engine/plan/joining.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/join_options.hpp>

namespace strid::graph {

/// A base of streams.
template <class Self>
class Joinable {
  public:
    /// The pairs of its records and those of another stream, of equal keys and near times, as
    /// `strid::join` (stream/join.hpp):
    ///
    ///     std::move(orders).join(std::move(payments), on<&Order::number, &Payment::order>(),
    ///                            within(0s, 60s), make_paid, {.kind = JoinKind::left})
    ///
    /// Before the options may stand `late_apart`, `share::farmed`, or both.
    template <class Right, class Keys, class Bound, class F>
    auto join(Right&& right, Keys keys, Bound bound, F pair, const JoinOptions& options = {}) && {
        return join_streams(self(), std::forward<Right>(right), std::move(keys), bound,
                            std::move(pair), share::by_key, options);
    }
    /// The same, with the way in which replicas share the work (stream/share.hpp).
    template <class Right, class Keys, class Bound, class F, WindowWay Way>
    auto join(Right&& right, Keys keys, Bound bound, F pair, Way way,
              const JoinOptions& options = {}) && {
        return join_streams(self(), std::forward<Right>(right), std::move(keys), bound,
                            std::move(pair), way, options);
    }

    /// Each record with the latest one of another stream that has its key and is not after it, as
    /// `strid::as_of` (stream/as_of_join.hpp).
    template <class Right, class Keys, class F>
    auto as_of(Right&& right, Keys keys, F pair, const AsOfOptions& options = {}) && {
        return as_of_streams(self(), std::forward<Right>(right), std::move(keys), std::move(pair),
                             share::by_key, options);
    }
    /// The same, with the way in which replicas share the work (stream/share.hpp).
    template <class Right, class Keys, class F, WindowWay Way>
    auto as_of(Right&& right, Keys keys, F pair, Way way, const AsOfOptions& options = {}) && {
        return as_of_streams(self(), std::forward<Right>(right), std::move(keys), std::move(pair),
                             way, options);
    }

  private:
    [[nodiscard]] Self&& self() noexcept { return static_cast<Self&&>(*this); }
};

}  // namespace strid::graph
