// SPDX-License-Identifier: Apache-2.0
//
// The state that windows of event time keep for a key (keyed_time_windows.hpp): states by the
// number of their pane, which records come to in any order, and from which windows are answered in
// the order of their ends. Three ways, chosen by what the function is known to be:
//
//     SlidingPanes  a ring of panes, and behind it the structure that slides over them in order
//                   (in_order.hpp). A record is one addition, a pane a few combinations; a record
//                   that comes late to a window of n panes makes it combine all n anew.
//     PaneTree      a finger tree of panes (finger_tree.hpp): a record is a few combinations more,
//                   a window O(log n), late or not. For windows of many panes that take records
//                   late: `kept_in<PaneTree>(...)`.
//     WindowStates  for folds, whose states cannot be combined: one for each window.
//
// Threads: only the task of the node. Invariant of all: numbers rise and no state is empty.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/structures/finger_tree.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/engine/window/structures/in_order.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

using PaneIndex = TimeWindows::Index;
using PaneRange = WindowRange<PaneIndex>;

namespace detail {

template <class State>
struct Pane {
    PaneIndex number = 0;
    State state{};
};

/// The first position whose pane is not before the one of this number, or the end.
template <class State>
[[nodiscard, gnu::always_inline]] inline std::uint64_t position_of(
    const FlatRing<Pane<State>>& panes, PaneIndex number) {
    return panes.partition_point([number](const auto& pane) { return pane.number < number; });
}
/// Gives `take` the state of this number where there is one.
template <class State, class Take>
void take_state(const FlatRing<Pane<State>>& panes, PaneIndex number, const Take& take) {
    const auto at = position_of(panes, number);
    if (at != panes.end_position() && panes[at].number == number) take(panes[at].state);
}

}  // namespace detail

/// The sliding structure is made at the first window of several panes: a key with tumbling windows
/// has none. Invariant: it holds the panes at the positions [first_slid, end_slid).
template <Aggregate A>
class SlidingPanes {
    static constexpr bool codec = state::has_codec<typename A::State>();
    /// Else it is filled from the panes anew.
    static constexpr bool saves_slid = state::has_codec<InOrder<A>>();

  public:
    explicit SlidingPanes(const A&) {}

    [[nodiscard]] bool empty() const noexcept { return panes_.empty(); }
    [[nodiscard]] PaneIndex oldest() const { return panes_.front().number; }
    [[nodiscard]] PaneIndex newest() const { return panes_.back().number; }
    /// The first pane at this number or behind it; there is one.
    [[nodiscard]] PaneIndex first_from(PaneIndex number) const {
        return panes_[detail::position_of(panes_, number)].number;
    }

    /// Adds a record to a pane.
    template <class T>
    [[gnu::always_inline]] void add(const A& aggregate, PaneIndex number, const T& record) {
        if (!panes_.empty() && panes_.back().number == number) [[likely]] {
            add_record(aggregate, panes_.back().state, record);
            if (panes_.end_position() - 1 < end_slid_) [[unlikely]]
                empty_slid();
        } else {
            add_to_other_pane(aggregate, number, record);
        }
    }

    /// Gives `take` the sum of the panes of a window, unless it has none. Windows slide: those
    /// before it have been asked for.
    template <class Take>
    [[gnu::always_inline]] void slide_to(const A& aggregate, PaneRange window, const Take& take) {
        if (window.size() == 1) return detail::take_state(panes_, window.first, take);
        if (!slid_) [[unlikely]]
            slid_ = std::make_unique<InOrder<A>>(aggregate);
        InOrder<A>& slid = *slid_;
        while (end_slid_ != panes_.end_position() && panes_[end_slid_].number < window.end) {
            slid.insert(panes_[end_slid_++].state);
        }
        while (first_slid_ != end_slid_ && panes_[first_slid_].number < window.first) {
            slid.evict();
            ++first_slid_;
        }
        if (first_slid_ != end_slid_) take(slid.query());
    }
    /// The sum of a window that was slid over before. O(panes).
    [[nodiscard]] typename A::State sum(const A& aggregate, PaneRange window) const {
        auto total = aggregate.identity();
        for (auto at = detail::position_of(panes_, window.first);
             at != panes_.end_position() && panes_[at].number < window.end; ++at) {
            total = aggregate.combine(total, panes_[at].state);
        }
        return total;
    }

    void drop_before(PaneIndex number) {
        while (!panes_.empty() && panes_.front().number < number) {
            if (first_slid_ == panes_.begin_position()) {
                if (end_slid_ == first_slid_) {
                    ++end_slid_;
                } else {
                    slid_->evict();
                }
                ++first_slid_;
            }
            panes_.pop_front();
        }
    }
    void clear() {
        panes_.clear();
        empty_slid();
    }

    void prefetch() const noexcept { panes_.prefetch(); }
    void prefetch_all() const noexcept {
        panes_.prefetch();
        if (slid_) prefetch_object(slid_.get());
    }

    void save(StateWriter& writer) const
        requires codec
    {
        panes_.save(writer);
        if constexpr (saves_slid) {
            writer.number(first_slid_);
            writer.number(end_slid_);
            writer.length(slid_ ? 1 : 0);
            if (slid_) state::save(writer, *slid_);
        }
    }
    /// The reader lends the function.
    void load(StateReader& reader)
        requires codec
    {
        panes_.load(reader);
        slid_.reset();
        if constexpr (saves_slid) {
            first_slid_ = reader.number();
            end_slid_ = reader.number();
            if (reader.choice(2) == 1) {
                slid_ = std::make_unique<InOrder<A>>(reader.template lent<A>());
                state::load(reader, *slid_);
            }
            const std::size_t slid = slid_ ? slid_->size() : 0;
            if (first_slid_ < panes_.begin_position() || end_slid_ > panes_.end_position() ||
                end_slid_ - first_slid_ != slid) {
                reader.refuse("slides over panes that are not there");
            }
        } else {
            first_slid_ = end_slid_ = panes_.begin_position();
        }
    }

  private:
    /// The same where the pane is not the last one.
    template <class T>
    [[gnu::noinline]] void add_to_other_pane(const A& aggregate, PaneIndex number,
                                             const T& record) {
        if (panes_.empty() || panes_.back().number < number) {
            panes_.push_back({number, aggregate.identity()});
            add_record(aggregate, panes_.back().state, record);
            return;
        }
        const auto at = detail::position_of(panes_, number);
        if (panes_[at].number != number) panes_.insert(at, {number, aggregate.identity()});
        add_record(aggregate, panes_[at].state, record);
        if (at < end_slid_) empty_slid();
    }

    /// The sliding structure no longer agrees with the panes.
    void empty_slid() {
        if (slid_) {
            if constexpr (requires { slid_->reset(); }) {
                slid_->reset();
            } else {
                while (slid_->size() != 0) slid_->evict();
            }
        }
        first_slid_ = end_slid_ = panes_.begin_position();
    }

    FlatRing<detail::Pane<typename A::State>> panes_;  // of windows that are not closed
    std::unique_ptr<InOrder<A>> slid_;
    std::uint64_t first_slid_ = 0;
    std::uint64_t end_slid_ = 0;
};

/// A structure that keeps the panes themselves, not what slides over them.
template <class Structure>
concept KeepsPanes = requires(const Structure& panes) {
    { panes.first_from(PaneIndex{}) } -> std::same_as<PaneIndex>;
};

/// Panes in a finger tree, for windows of many panes that take late records. Adds by `lift`.
template <Aggregate A>
class PaneTree {
    static constexpr bool codec = state::has_codec<typename A::State>();

  public:
    static constexpr const char* how = "panes in a finger tree";

    explicit PaneTree(const A& aggregate) : panes_(aggregate) {}

    [[nodiscard]] bool empty() const noexcept { return panes_.size() == 0; }
    [[nodiscard]] PaneIndex oldest() const { return panes_.oldest(); }
    [[nodiscard]] PaneIndex newest() const { return panes_.newest(); }
    [[nodiscard]] PaneIndex first_from(PaneIndex number) const {
        const PaneIndex* const first = panes_.first_from(number);
        STRID_ASSERT(first != nullptr);
        return *first;
    }

    template <class Lifting, class T>
    void add(const Lifting& aggregate, PaneIndex number, const T& record) {
        panes_.insert(number, aggregate.lift(record));
    }

    template <class Lifting, class Take>
    void slide_to(const Lifting& aggregate, PaneRange window, const Take& take) {
        const PaneIndex* const first = panes_.first_from(window.first);
        if (first != nullptr && *first < window.end) take(sum(aggregate, window));
    }
    template <class Lifting>
    [[nodiscard]] typename A::State sum(const Lifting&, PaneRange window) const {
        return panes_.query(window.first, window.end);
    }

    void drop_before(PaneIndex number) { panes_.evict_before(number); }
    void clear() {
        if (!empty()) panes_.evict_before(newest() + 1);
    }

    void prefetch() const noexcept {}
    void prefetch_all() const noexcept {}

    /// The tree is made anew, and combines the same states in another order.
    void save(StateWriter& writer) const
        requires codec
    {
        writer.length(panes_.size());
        panes_.for_each([&writer](PaneIndex number, const auto& state) {
            state::save(writer, number);
            state::save(writer, state);
        });
    }
    void load(StateReader& reader)
        requires codec
    {
        clear();
        for (std::size_t left = reader.length(sizeof(PaneIndex)); left != 0; --left) {
            const auto number = state::loaded<PaneIndex>(reader);
            if (!empty() && number <= newest()) reader.refuse("has panes that do not rise");
            panes_.insert(number, state::loaded<typename A::State>(reader));
        }
    }

  private:
    FingerTree<A, PaneIndex> panes_;
};

/// Here a pane is a window: each has its own number.
template <class A>
class WindowStates {
  public:
    explicit WindowStates(const A&) {}

    [[nodiscard]] bool empty() const noexcept { return windows_.empty(); }
    [[nodiscard]] PaneIndex oldest() const { return windows_.front().number; }
    [[nodiscard]] PaneIndex newest() const { return windows_.back().number; }
    [[nodiscard]] PaneIndex first_from(PaneIndex number) const {
        return windows_[detail::position_of(windows_, number)].number;
    }

    /// Adds a record to each of several windows. O(windows).
    template <class T>
    void add(const A& aggregate, PaneRange range, const T& record) {
        auto at = detail::position_of(windows_, range.first);
        for (PaneIndex number = range.first; number < range.end; ++number, ++at) {
            if (at == windows_.end_position() || windows_[at].number != number) {
                windows_.insert(at, {number, aggregate.identity()});
            }
            aggregate.add(windows_[at].state, record);
        }
    }

    template <class Take>
    void slide_to(const A&, PaneRange window, const Take& take) {
        detail::take_state(windows_, window.first, take);
    }
    /// Of a window that has a record.
    [[nodiscard]] const typename A::State& sum(const A&, PaneRange window) const {
        return windows_[detail::position_of(windows_, window.first)].state;
    }

    void drop_before(PaneIndex number) {
        while (!windows_.empty() && windows_.front().number < number) windows_.pop_front();
    }
    void clear() noexcept { windows_.clear(); }

    void prefetch() const noexcept { windows_.prefetch(); }
    void prefetch_all() const noexcept { windows_.prefetch(); }

    auto state() { return std::tie(windows_); }

  private:
    FlatRing<detail::Pane<typename A::State>> windows_;
};

namespace detail {

template <class A>
struct PanesChoice {
    using type = SlidingPanes<A>;
};
template <class A>
    requires only_goes_forward<A>
struct PanesChoice<A> {
    using type = WindowStates<A>;
};
template <NamesItsStructure A>
    requires KeepsPanes<typename A::InOrderStructure>
struct PanesChoice<A> {
    using type = typename A::InOrderStructure;
};

}  // namespace detail

/// Whether a key has a state in the range.
template <class Panes>
[[nodiscard]] bool has_pane(const Panes& panes, PaneRange range) {
    return !panes.empty() && panes.newest() >= range.first &&
           panes.first_from(range.first) < range.end;
}

/// The state of a key in windows of event time with this function.
template <class A>
using PanesOf = typename detail::PanesChoice<A>::type;

}  // namespace strid::window
