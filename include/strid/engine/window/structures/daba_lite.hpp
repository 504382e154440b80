// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window that slides in order, for any associative function, in constant time
// for every single step: DABA Lite (Tangwongsan, Hirzel, Schneider: "In-order sliding-window
// aggregation in worst-case constant time", VLDB Journal 2021). Two stacks whose turning over is
// spread over the insertions and evictions in between, in place, with two totals beside.
//
// At most three combinations per insertion, two per eviction, one per query, however long the
// window: no record waits for the window to be turned over.
//
// Threads: one. Invariant, for f <= l <= r <= a <= b <= e, where f and e are the ends of the ring
// and v the states that were inserted:
//     states_[i] = v[i] + ... + v[b-1]   for i in [f, l)   finished
//     states_[i] = v[i] + ... + v[r-1]   for i in [l, r)   turned over, their end still missing
//     states_[i] = v[i]                  for i in [r, a)   still to be turned over
//     states_[i] = v[i] + ... + v[b-1]   for i in [a, b)   finished
//     states_[i] = v[i]                  for i in [b, e)   came since
//     middle_ = v[r] + ... + v[b-1] while l < r;  back_ = v[b] + ... + v[e-1]
//     r - l == a - r, and the front is longer than the back: b - f == (b - l) + (e - b) + 1, but
//     for an empty window, where all are equal
#pragma once

#include <cstddef>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A>
class DabaLite {
  public:
    using State = typename A::State;
    static constexpr const char* how = "slides by DABA Lite: the function is associative";

    explicit DabaLite(A aggregate = {})
        : aggregate_(std::move(aggregate)),
          middle_(aggregate_.identity()),
          back_(aggregate_.identity()) {}

    void insert(State newest) {
        back_ = aggregate_.combine(back_, newest);
        states_.push_back(std::move(newest));
        step();
    }
    /// The oldest leaves; there must be one.
    void evict() {
        states_.pop_front();
        step();
    }
    [[nodiscard]] State query() const {
        if (states_.begin_position() == b_) return back_;
        return aggregate_.combine(states_.front(), back_);
    }
    [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

    /// The invariant, as far as positions go. O(1).
    [[nodiscard]] bool is_valid() const noexcept {
        const auto f = states_.begin_position();
        const auto e = states_.end_position();
        if (f > l_ || l_ > r_ || r_ > a_ || a_ > b_ || b_ > e || r_ - l_ != a_ - r_) return false;
        return f == e ? b_ == e : b_ - f == (b_ - l_) + (e - b_) + 1;
    }

    void save(StateWriter& writer) const
        requires(state::has_codec<State>())
    {
        states_.save(writer);
        for (const Position at : {l_, r_, a_, b_}) writer.number(at);
        state::save(writer, middle_);
        state::save(writer, back_);
    }
    void load(StateReader& reader)
        requires(state::has_codec<State>())
    {
        states_.load(reader);
        for (Position* const at : {&l_, &r_, &a_, &b_}) *at = reader.number();
        state::load(reader, middle_);
        state::load(reader, back_);
        if (!is_valid()) reader.refuse("breaks the invariant of DABA Lite");
    }

  private:
    using Position = typename FlatRing<State>::Position;

    void step() {
        const auto f = states_.begin_position();
        const auto e = states_.end_position();
        if (f == b_) {  // at most one state, and it is finished
            l_ = r_ = a_ = b_ = e;
            back_ = aggregate_.identity();
        } else {
            if (l_ == b_) turn_over(f, e);
            if (l_ == r_) {
                ++l_, ++r_, ++a_;
            } else {
                finish_one();
            }
        }
        STRID_PARANOID(is_valid());
    }

    /// The front is finished and as long as the back: it becomes what is turned over, and the back
    /// what is to be.
    void turn_over(Position f, Position e) {
        l_ = f;
        a_ = b_ = e;  // r_ is where the back began
        middle_ = std::exchange(back_, aggregate_.identity());
    }

    void finish_one() {
        states_[l_] = aggregate_.combine(states_[l_], middle_);
        ++l_;
        --a_;
        if (a_ + 1 != b_) states_[a_] = aggregate_.combine(states_[a_], states_[a_ + 1]);
    }

    [[no_unique_address]] A aggregate_;
    FlatRing<State> states_;
    Position l_ = 0;
    Position r_ = 0;
    Position a_ = 0;
    Position b_ = 0;
    State middle_;
    State back_;
};

}  // namespace strid::window
