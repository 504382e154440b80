// SPDX-License-Identifier: Apache-2.0
//
// The state that windows of a number of records keep for a key (keyed_count_windows.hpp), from the
// beginning of the window that fires next: the panes of gcd(length, slide) records that slide
// through the structure that the function's algebra allows (in_order.hpp), or a state for each
// window of a fold, which cannot be put together from panes.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/engine/window/structures/in_order.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/in_order.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// A record costs one addition, a pane a few combinations, whatever the length of the windows.
template <Aggregate A>
class SlidingCounts {
    static_assert(InOrderWindow<InOrder<A>> || has_local_states<A>,
                  "records come in the order of their positions: the structure that is named for "
                  "their windows takes them so (see PaneTree)");

  public:
    explicit SlidingCounts(const A& aggregate) : pane_(aggregate.identity()), slid_(aggregate) {}

    template <class T>
    [[gnu::always_inline]] void add(const A& aggregate, const CountWindows&, bool,
                                    const T& record) {
        add_record(aggregate, pane_, record);
    }
    void end_pane(const A& aggregate) { slid_.insert(std::exchange(pane_, aggregate.identity())); }
    /// How many panes have ended.
    [[nodiscard]] std::uint64_t size() const noexcept { return slid_.size(); }
    /// The sum of them.
    [[nodiscard]] decltype(auto) query() const { return slid_.query(); }

    /// Evicts the panes that the next window does not have.
    void slide(const CountWindows& windows) {
        for (std::uint64_t at = 0; at < windows.slide() && slid_.size() != 0; at += windows.pane())
            slid_.evict();
    }

    auto state() { return std::tie(pane_, slid_); }

  private:
    typename A::State pane_;  // that has not ended
    InOrder<A> slid_;
};

/// A record costs one addition for each window that it lies in.
template <class A>
class FoldedCounts {
  public:
    explicit FoldedCounts(const A&) {}

    /// `first`: of its pane.
    template <class T>
    void add(const A& fold, const CountWindows& windows, bool first, const T& record) {
        if (first && panes_ * windows.pane() % windows.slide() == 0) {
            open_.push_back(fold.identity());
        }
        for (auto at = open_.begin_position(); at != open_.end_position(); ++at) {
            fold.add(open_[at], record);
        }
    }
    void end_pane(const A&) noexcept { ++panes_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return panes_; }
    /// The state of the first window.
    [[nodiscard]] const typename A::State& query() const noexcept { return open_.front(); }

    void slide(const CountWindows& windows) {
        panes_ -= std::min(panes_, windows.slide() / windows.pane());
        open_.pop_front();
    }

    auto state() { return std::tie(open_, panes_); }

  private:
    FlatRing<typename A::State> open_;  // windows that have begun
    std::uint64_t panes_ = 0;
};

namespace detail {

template <class A>
struct CountPanesChoice {
    using type = SlidingCounts<A>;
};
template <class A>
    requires only_goes_forward<A>
struct CountPanesChoice<A> {
    using type = FoldedCounts<A>;
};

}  // namespace detail

/// The state of a key in windows of a number of records with this function.
template <class A>
using CountPanesOf = typename detail::CountPanesChoice<A>::type;

}  // namespace strid::window
