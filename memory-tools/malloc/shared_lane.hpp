// SPDX-License-Identifier: Apache-2.0
//
// The return lane of a heap: any thread puts chains of freed pieces in, the thread that has the
// heap takes all of them out. It is ReturnLane of the room `memory` for many givers: one
// compare-and-exchange adds a chain, one exchange takes all. A piece can therefore not come back to
// the head unseen (the ABA problem).
//
// A heap that no thread has any more is `idle`. Of a giver that adds a chain and a thread that
// leaves its heap, at least one sees the other: the giver adds and then checks whether the heap is
// idle; the other marks it idle and then checks the lane. All four accesses are sequentially
// consistent.
#pragma once

#include <atomic>

namespace strid::slab_malloc {

/// `Node` has a member `next`. `Atomic` is `std::atomic`; tests replace it by a model that explores
/// interleavings.
template <class Node, template <class> class Atomic = std::atomic>
class SharedLane {
  public:
    /// Any thread. Adds the chain from `first` to `last`, linked through `next`.
    void give(Node* first, Node* last) noexcept {
        Node* head = head_.load(std::memory_order_relaxed);
        do {
            last->next = head;
            // Pairs with the exchange in take_all(): the links, and all that the giver did with the
            // pieces. Sequentially consistent: see above.
        } while (!head_.compare_exchange_strong(head, first, std::memory_order_seq_cst,
                                                std::memory_order_relaxed));
    }

    /// The thread that has the heap. The chain of all pieces, the newest first, or null.
    [[nodiscard]] Node* take_all() noexcept {
        // Sequentially consistent for the hand-shake above: pairs with give().
        if (head_.load(std::memory_order_seq_cst) == nullptr) return nullptr;
        // Pairs with give().
        return head_.exchange(nullptr, std::memory_order_acquire);
    }

    /// Any thread: a hint that take_all() would find something.
    [[nodiscard]] bool has_some() const noexcept {
        return head_.load(std::memory_order_relaxed) != nullptr;
    }

  private:
    Atomic<Node*> head_{nullptr};
};

/// The state of a heap, as above.
template <template <class> class Atomic = std::atomic>
class Residence {
  public:
    enum class Place : int {
        with_thread,
        idle,  // in the list of heaps, for the next thread that begins
        lost,  // its thread was not copied by a fork, which may have found the heap half written
    };

    /// Under the lock of the heaps.
    void set(Place place) noexcept {
        // Pairs with the load in is_idle().
        place_.store(place, std::memory_order_seq_cst);
    }
    /// A giver, after it gave.
    [[nodiscard]] bool is_idle() const noexcept {
        // Pairs with the store in set().
        return place_.load(std::memory_order_seq_cst) == Place::idle;
    }

  private:
    Atomic<Place> place_{Place::with_thread};
};

}  // namespace strid::slab_malloc
