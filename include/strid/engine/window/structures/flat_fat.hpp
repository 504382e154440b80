// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window that slides in order and whose states may be changed in place: FlatFAT,
// a complete binary tree laid out in an array (Tangwongsan, Hirzel, Schneider, Wu: "General
// incremental sliding-window aggregation", PVLDB 2015), the tree of paper 2's FFAT windows. The
// leaves are a ring of states in the order of the stream; an inner node combines its children.
//
// A change of one state, an insertion and an eviction take log2(capacity) combinations; a query
// none, or up to twice that where the ring is wrapped round and the order of the parts matters. It
// is not the fastest for a window that only slides (see DabaLite); it answers for any part of the
// window and takes changes anywhere in it.
//
// Threads: one. Invariant: nodes_[i] = nodes_[2i] + nodes_[2i + 1] for 1 <= i < capacity, and the
// leaf of a position is nodes_[capacity + position % capacity], the identity where no state is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A>
class FlatFat {
  public:
    using State = typename A::State;
    static constexpr const char* how = "slides in a FlatFAT";
    using Position = std::uint64_t;

    explicit FlatFat(A aggregate = {}) : aggregate_(std::move(aggregate)) { reset(8); }

    /// Amortised: a tree that is full is built anew with twice the leaves.
    void insert(State newest) {
        if (size() == capacity_) grow();
        set(end_++, std::move(newest));
    }
    /// The oldest leaves; there must be one.
    void evict() {
        STRID_ASSERT(begin_ != end_);
        set(begin_++, aggregate_.identity());
    }
    /// Combines `late` behind the state at a position of the window: the first state inserted was
    /// at 0.
    void combine_at(Position position, const State& late) {
        STRID_ASSERT(position - begin_ < size());
        set(position, aggregate_.combine(nodes_[leaf(position)], late));
    }

    [[nodiscard]] State query() const {
        if constexpr (!is_commutative<A>) {
            if (size() != 0 && slot(begin_) > slot(end_ - 1)) {
                return aggregate_.combine(from(slot(begin_)), up_to(slot(end_ - 1)));
            }
        }
        return nodes_[1];
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(end_ - begin_);
    }
    [[nodiscard]] Position begin_position() const noexcept { return begin_; }
    [[nodiscard]] Position end_position() const noexcept { return end_; }

    void save(StateWriter& writer) const
        requires(state::has_codec<State>())
    {
        writer.number(begin_);
        state::save(writer, nodes_);
        writer.number(end_);
    }
    void load(StateReader& reader)
        requires(state::has_codec<State>())
    {
        begin_ = reader.number();
        state::load(reader, nodes_);
        end_ = reader.number();
        capacity_ = nodes_.size() / 2;
        const bool is_tree = std::has_single_bit(nodes_.size()) && capacity_ >= 8;
        if (!is_tree || end_ < begin_ || size() > capacity_) reader.refuse("is no tree");
    }

  private:
    [[nodiscard]] std::size_t slot(Position position) const noexcept {
        return position & (capacity_ - 1);
    }
    [[nodiscard]] std::size_t leaf(Position position) const noexcept {
        return capacity_ + slot(position);
    }

    void set(Position position, State state) {
        std::size_t node = leaf(position);
        nodes_[node] = std::move(state);
        for (node /= 2; node != 0; node /= 2) combine_children(node);
    }
    void combine_children(std::size_t node) {
        nodes_[node] = aggregate_.combine(nodes_[2 * node], nodes_[2 * node + 1]);
    }

    /// The leaves from a slot to the last one.
    [[nodiscard]] State from(std::size_t first) const {
        std::size_t node = capacity_ + first;
        State sum = nodes_[node];
        for (; node != 1; node /= 2) {
            if (node % 2 == 0) sum = aggregate_.combine(sum, nodes_[node + 1]);
        }
        return sum;
    }
    /// The leaves from the first one to a slot.
    [[nodiscard]] State up_to(std::size_t last) const {
        std::size_t node = capacity_ + last;
        State sum = nodes_[node];
        for (; node != 1; node /= 2) {
            if (node % 2 == 1) sum = aggregate_.combine(nodes_[node - 1], sum);
        }
        return sum;
    }

    void grow() {
        std::vector<State> states;
        for (Position at = begin_; at != end_; ++at) {
            states.push_back(std::move(nodes_[leaf(at)]));
        }
        reset(2 * capacity_);
        for (Position at = begin_; at != end_; ++at) {
            nodes_[leaf(at)] = std::move(states[static_cast<std::size_t>(at - begin_)]);
        }
        for (std::size_t node = capacity_; --node != 0;) combine_children(node);
    }
    void reset(std::size_t capacity) {
        capacity_ = capacity;
        nodes_.assign(2 * capacity, aggregate_.identity());
    }

    [[no_unique_address]] A aggregate_;
    std::size_t capacity_ = 0;  // leaves; a power of two
    std::vector<State> nodes_;  // nodes_[0] is not used
    Position begin_ = 0;
    Position end_ = 0;
};

}  // namespace strid::window
