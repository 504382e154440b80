// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window that slides in order, for any associative function: two stacks, one
// behind the other in a ring. The back stack is a running total of what came last; the front stack
// holds, for each state, the combination of it with everything behind it up to the back stack.
// Where the front runs empty the back is turned over.
//
// Amortised three combinations per state that passes; the worst eviction combines the whole window.
// DabaLite spreads that turning over many steps.
//
// Threads: one. Invariant, with f the first position behind the front stack:
//     states_[i] for i < f:   state i combined with all from i + 1 to f - 1
//     states_[i] for i >= f:  state i;  back_ is the combination of these
#pragma once

#include <cstddef>
#include <utility>

#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A>
class TwoStacks {
  public:
    using State = typename A::State;
    static constexpr const char* how = "slides by two stacks";

    explicit TwoStacks(A aggregate = {})
        : aggregate_(std::move(aggregate)), back_(aggregate_.identity()) {}

    void insert(State newest) {
        back_ = aggregate_.combine(back_, newest);
        states_.push_back(std::move(newest));
    }
    /// The oldest leaves; there must be one.
    void evict() {
        if (states_.begin_position() == front_end_) turn_over();
        states_.pop_front();
    }
    [[nodiscard]] State query() const {
        if (states_.begin_position() == front_end_) return back_;
        return aggregate_.combine(states_.front(), back_);
    }
    [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

    void save(StateWriter& writer) const
        requires(state::has_codec<State>())
    {
        states_.save(writer);
        writer.number(front_end_);
        state::save(writer, back_);
    }
    void load(StateReader& reader)
        requires(state::has_codec<State>())
    {
        states_.load(reader);
        front_end_ = reader.number();
        state::load(reader, back_);
        if (front_end_ < states_.begin_position() || front_end_ > states_.end_position()) {
            reader.refuse("has a stack that ends elsewhere");
        }
    }

  private:
    void turn_over() {
        front_end_ = states_.end_position();
        for (auto at = front_end_ - 1; at != states_.begin_position(); --at) {
            states_[at - 1] = aggregate_.combine(states_[at - 1], states_[at]);
        }
        back_ = aggregate_.identity();
    }

    [[no_unique_address]] A aggregate_;
    FlatRing<State> states_;
    typename FlatRing<State>::Position front_end_ = 0;
    State back_;
};

}  // namespace strid::window
