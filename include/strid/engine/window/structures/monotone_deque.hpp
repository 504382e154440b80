// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window that slides in order, for a selective function (a minimum, a maximum):
// a state that a newer one covers can never be the answer again and is dropped. The states that
// remain stand in the order of the stream, each covered by the one before it, and the oldest is the
// answer. Amortised O(1) per insertion, at most as many steps as there are states; O(1) per query.
//
// Threads: one. Invariant: the kept states are those that no newer state in the window covers, each
// with the number of states, itself included, that leave the window no later than it does and later
// than the kept one before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A>
class MonotoneDeque {
    static_assert(Selective<A>, "of two states in a monotone deque one has to stand: `covers`");

  public:
    using State = typename A::State;
    static constexpr const char* how =
        "slides in a monotone deque: a newer state may cover older ones";

    explicit MonotoneDeque(A aggregate = {}) : aggregate_(std::move(aggregate)) {}

    void insert(State newest) {
        std::uint64_t stands_for = 1;
        while (!kept_.empty() && aggregate_.covers(newest, kept_.back().state)) {
            stands_for += kept_.back().stands_for;
            kept_.pop_back();
        }
        kept_.push_back({std::move(newest), stands_for});
        ++size_;
    }
    /// The oldest leaves; there must be one.
    void evict() {
        if (--kept_.front().stands_for == 0) kept_.pop_front();
        --size_;
    }
    [[nodiscard]] State query() const {
        return kept_.empty() ? aggregate_.identity() : kept_.front().state;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    void save(StateWriter& writer) const
        requires(state::has_codec<State>())
    {
        kept_.save(writer);
        writer.length(size_);
    }
    void load(StateReader& reader)
        requires(state::has_codec<State>())
    {
        kept_.load(reader);
        size_ = reader.length(0);
        std::uint64_t stands_for = 0;
        for (auto at = kept_.begin_position(); at != kept_.end_position(); ++at) {
            if (kept_[at].stands_for == 0) reader.refuse("stands for no other");
            stands_for += kept_[at].stands_for;
        }
        if (stands_for != size_) reader.refuse("stands for another number of states");
    }

  private:
    struct Kept {
        State state{};
        std::uint64_t stands_for = 0;
    };

    [[no_unique_address]] A aggregate_;
    FlatRing<Kept> kept_;
    std::size_t size_ = 0;
};

}  // namespace strid::window
