// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window that slides in order, for an invertible function: one running total,
// from which what leaves is taken out. One combination per insertion, one `without` per eviction,
// none per query.
//
// Threads: one. Invariant: total_ is the combination of the states in the ring.
#pragma once

#include <cstddef>
#include <utility>

#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A>
class SubtractOnEvict {
    static_assert(Invertible<A>, "what leaves a running total has to be taken out: `without`");

  public:
    using State = typename A::State;
    static constexpr const char* how = "slides as a running total: what leaves can be subtracted";

    explicit SubtractOnEvict(A aggregate = {})
        : aggregate_(std::move(aggregate)), total_(aggregate_.identity()) {}

    void insert(State newest) {
        total_ = aggregate_.combine(total_, newest);
        states_.push_back(std::move(newest));
    }
    /// The oldest leaves; there must be one.
    void evict() {
        total_ = aggregate_.without(total_, states_.front());
        states_.pop_front();
    }
    [[nodiscard]] State query() const { return total_; }
    [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }
    /// Asks for the memory of what is inserted and evicted next.
    void prefetch() const noexcept { states_.prefetch(); }

    void save(StateWriter& writer) const
        requires(state::has_codec<State>())
    {
        state::save(writer, total_);
        states_.save(writer);
    }
    void load(StateReader& reader)
        requires(state::has_codec<State>())
    {
        state::load(reader, total_);
        states_.load(reader);
    }

  private:
    [[no_unique_address]] A aggregate_;
    State total_;
    FlatRing<State> states_;
};

}  // namespace strid::window
