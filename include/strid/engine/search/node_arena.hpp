// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a tree that changes, in chunks that grow with the tree. A node that the tree no
// longer needs is kept and used again (paper 5, "don't delete the nodes"); its first bytes link the
// free ones. Chunks return to the allocator when the tree is laid out anew, or destroyed.
//
// Threads: one. Invariant: every slot is with the tree, in the list of free ones, or in
// [fresh_, fresh_end_), which lies in one chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>

namespace strid::memory {

/// Slots for objects of type Node, which the user constructs and destroys.
template <class Node, class Allocator>
class NodeArena {
    using Traits = typename std::allocator_traits<Allocator>::template rebind_traits<Node>;
    using Slots = typename Traits::allocator_type;
    static_assert(std::is_same_v<typename Traits::pointer, Node*>, "plain pointers only");
    static_assert(sizeof(Node) >= sizeof(void*) && alignof(Node) >= alignof(void*));

  public:
    explicit NodeArena(const Allocator& allocator) noexcept
        : allocator_(allocator), chunks_(ChunkAllocator(allocator)) {}
    NodeArena(const NodeArena&) = delete;
    NodeArena& operator=(const NodeArena&) = delete;
    ~NodeArena() { release(); }

    /// Exchanges all but the allocators, which are equal.
    void swap(NodeArena& other) noexcept {
        chunks_.swap(other.chunks_);
        std::swap(free_, other.free_);
        std::swap(fresh_, other.fresh_);
        std::swap(fresh_end_, other.fresh_end_);
        std::swap(free_count_, other.free_count_);
    }
    [[nodiscard]] Allocator allocator() const noexcept { return Allocator(allocator_); }
    /// For allocators that move with their container. There are no chunks, or swap() exchanges the
    /// allocators of their lists as well.
    void take_allocator(const Allocator& allocator) noexcept {
        allocator_ = Slots(allocator);
        if constexpr (!Traits::propagate_on_container_swap::value) {
            STRID_ASSERT(chunks_.empty());
            std::destroy_at(&chunks_);
            std::construct_at(&chunks_, ChunkAllocator(allocator));
        }
    }

    /// The next `count` calls of take() find a slot. Throws what the allocator throws; then nothing
    /// has changed.
    void reserve(std::size_t count) {
        if (free_count_ + fresh() < count) [[unlikely]]
            grow(count);
    }
    /// A slot; reserve() was called for it. O(1).
    [[nodiscard]] Node* take() noexcept {
        if (free_ == nullptr) return fresh_++;
        Free* const slot = std::exchange(free_, free_->next);
        --free_count_;
        return reinterpret_cast<Node*>(slot);
    }
    /// Keeps a slot whose object is destroyed. O(1).
    void give(Node* slot) noexcept {
        free_ = ::new (static_cast<void*>(slot)) Free{free_};
        ++free_count_;
    }

    /// Calls `visit(slot)` for the first `count` slots, whatever is in them, in the order of their
    /// addresses within a chunk: the smallest that has room for all, else the largest first.
    /// O(count).
    template <class Visit>
    void visit_slots(std::size_t count, Visit&& visit) noexcept {
        order_chunks(count);
        for (const Chunk& chunk : chunks_) {
            const std::size_t here = std::min(count, chunk.count);
            for (std::size_t i = 0; i != here; ++i) visit(chunk.slots + i);
            count -= here;
        }
    }
    /// From now on the first `count` slots in that order are in use and no others: whole chunks
    /// behind them return to the allocator.
    void keep_first(std::size_t count) noexcept {
        order_chunks(count);
        free_ = nullptr;
        free_count_ = 0;
        fresh_ = fresh_end_ = nullptr;
        std::size_t used = 0;
        for (; used != chunks_.size() && count != 0; ++used) {
            const Chunk& chunk = chunks_[used];
            const std::size_t here = std::min(count, chunk.count);
            fresh_ = chunk.slots + here;
            fresh_end_ = chunk.slots + chunk.count;
            count -= here;
        }
        while (chunks_.size() != used) free_last_chunk();
    }
    /// Gives all chunks back; no object is left in them.
    void release() noexcept {
        keep_first(0);
        chunks_.shrink_to_fit();
    }

    /// Of all chunks.
    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t slots = 0;
        for (const Chunk& chunk : chunks_) slots += chunk.count;
        return slots * sizeof(Node);
    }

  private:
    struct Free {
        Free* next;
    };
    struct Chunk {
        Node* slots;
        std::size_t count;
    };
    using ChunkAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Chunk>;
    static constexpr std::size_t first_count = 4;

    [[nodiscard]] std::size_t fresh() const noexcept {
        return static_cast<std::size_t>(fresh_end_ - fresh_);
    }
    /// By as much as there is: large chunks are huge pages, and untouched pages take no memory.
    void grow(std::size_t count) {
        const std::size_t missing = count - free_count_;
        const std::size_t more =
            std::max({missing, bytes() / sizeof(Node), chunks_.empty() ? count : first_count});
        chunks_.reserve(chunks_.size() + 1);
        Node* const slots = Traits::allocate(allocator_, more);
        chunks_.push_back({slots, more});
        while (fresh_ != fresh_end_) give(fresh_++);
        fresh_ = slots;
        fresh_end_ = slots + more;
    }
    void order_chunks(std::size_t count) noexcept {
        std::sort(chunks_.begin(), chunks_.end(), [](const Chunk& one, const Chunk& other) {
            return one.count != other.count ? one.count > other.count
                                            : std::less<>{}(one.slots, other.slots);
        });
        const auto too_small =
            std::find_if(chunks_.begin(), chunks_.end(),
                         [count](const Chunk& chunk) { return chunk.count < count; });
        if (too_small != chunks_.begin()) std::rotate(chunks_.begin(), too_small - 1, too_small);
    }
    void free_last_chunk() noexcept {
        const Chunk chunk = chunks_.back();
        chunks_.pop_back();
        Traits::deallocate(allocator_, chunk.slots, chunk.count);
    }

    [[no_unique_address]] Slots allocator_;
    std::vector<Chunk, ChunkAllocator> chunks_;
    Free* free_ = nullptr;
    Node* fresh_ = nullptr;
    Node* fresh_end_ = nullptr;
    std::size_t free_count_ = 0;
};

}  // namespace strid::memory
