// SPDX-License-Identifier: Apache-2.0
//
// A lane over which ONE consumer thread at a time gives pieces of memory back to the ONE thread
// that owns them (paper 1, 4.2.1: a queue per freeing thread). Intrusive and therefore unbounded:
// giving back never fails, never waits and never allocates. A piece is linked through its member
// `next`.
//
// The consumer gathers pieces in a private pending chain and publishes it in bunches: one atomic
// operation per bunch. The owner takes everything that is published in one exchange.
//
// Invariant: every piece given is in exactly one of three places, and moves through them in this
// order:
//   pending (seen by the consumer only) -> published (shared) -> taken (the owner's).
// Only the consumer writes a non-null head and only the owner writes null. A publication that finds
// its expected head changed can conclude that the owner has just emptied the lane.
//
// Chains run oldest first within a bunch, newest bunch first: memory that is hot in the cache of
// the consumer is reused soonest.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>

namespace strid::memory {

/// The pieces that a lane can carry: they have a link that is free while the piece travels.
template <class Node>
concept Linked = requires(Node& node) {
    { node.next } -> std::same_as<Node*&>;
};

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <class Node, template <class> class Atomic = std::atomic>
class alignas(cache_line_bytes) ReturnLane {
  public:
    /// `bunch` is how many pieces are gathered before they are published; 1 publishes each.
    explicit ReturnLane(std::size_t bunch = 1) noexcept : bunch_(bunch == 0 ? 1 : bunch) {}
    ReturnLane(const ReturnLane&) = delete;
    ReturnLane& operator=(const ReturnLane&) = delete;

    /// Consumer. Adds one piece; returns true when a bunch was published. O(1).
    bool give(Node* node) noexcept {
        static_assert(Linked<Node>);
        STRID_ASSERT(node != nullptr);
        node->next = nullptr;
        if (pending_count_ == 0) {
            pending_first_ = node;
        } else {
            pending_last_->next = node;
        }
        pending_last_ = node;
        ++pending_count_;
        return pending_count_ >= bunch_ && flush();
    }

    /// Consumer. Publishes the pending pieces; returns false when there were none. O(1).
    bool flush() noexcept {
        if (pending_count_ == 0) return false;
        Node* expected = published_.load(std::memory_order_relaxed);
        pending_last_->next = expected;
        // Sequentially consistent: it is one half of the hand-shake of StarvedFlag (the other
        // half is in its set()). Its release part pairs with the exchange in take_all().
        if (!published_.compare_exchange_strong(expected, pending_first_, std::memory_order_seq_cst,
                                                std::memory_order_relaxed)) {
            pending_last_->next = nullptr;
            // As above; plain, because only this thread ever replaces a null head.
            published_.store(pending_first_, std::memory_order_seq_cst);
        }
        pending_first_ = nullptr;
        pending_last_ = nullptr;
        pending_count_ = 0;
        return true;
    }

    /// Consumer. Pieces that are not published yet.
    [[nodiscard]] std::size_t pending_count() const noexcept { return pending_count_; }

    /// Owner. Takes the whole published chain (linked through `next`), or nullptr. Costs a load
    /// when there is none.
    [[nodiscard]] Node* take_all() noexcept {
        // Sequentially consistent for the hand-shake of StarvedFlag: pairs with flush().
        if (published_.load(std::memory_order_seq_cst) == nullptr) return nullptr;
        // Acquires what the consumer did before flush() (with which it pairs): its last reads and
        // writes of each piece, and the links. Releases nothing, because the consumer reads nothing
        // here.
        return published_.exchange(nullptr, std::memory_order_acquire);
    }

    /// Any thread: a hint that take_all() would find something.
    [[nodiscard]] bool has_published() const noexcept {
        return published_.load(std::memory_order_relaxed) != nullptr;
    }

    /// Visits every piece in the lane, pending ones too, without removing it. Quiescent lanes only
    /// (no thread is giving or taking): for `is_valid()` of the owner and for destruction.
    template <class Visit>
    void for_each_quiescent(Visit visit) const {
        visit_chain(published_.load(std::memory_order_relaxed), visit);
        visit_chain(pending_first_, visit);
    }

    /// Quiescent lanes only: the length and the end of the pending chain are as recorded.
    [[nodiscard]] bool is_valid() const noexcept {
        std::size_t length = 0;
        const Node* last = nullptr;
        for (const Node* node = pending_first_; node != nullptr; node = node->next) {
            last = node;
            if (++length > pending_count_) return false;
        }
        return length == pending_count_ && last == pending_last_ && pending_count_ < bunch_;
    }

  private:
    template <class Visit>
    static void visit_chain(Node* node, Visit& visit) {
        while (node != nullptr) {
            Node* const next = node->next;  // the visitor may free the piece
            visit(node);
            node = next;
        }
    }

    // Line 0: shared. Written by the consumer once a bunch and by the owner when it takes.
    alignas(cache_line_bytes) Atomic<Node*> published_{nullptr};
    // Line 1: the consumer's own.
    alignas(cache_line_bytes) Node* pending_first_ = nullptr;
    Node* pending_last_ = nullptr;
    std::size_t pending_count_ = 0;
    std::size_t bunch_;
};

}  // namespace strid::memory
