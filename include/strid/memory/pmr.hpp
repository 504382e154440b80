// SPDX-License-Identifier: Apache-2.0
//
// The allocators of this room in the two forms that the standard library takes: polymorphic memory
// resources (`std::pmr`) and STL allocators. They exist over the slab allocator, the static arena,
// TLSF, and a block pool (for the one size that it has, with another resource for the rest).
//
// Threads: containers allocate on the allocator's owner thread, and memory of TLSF is freed there.
// A container over a slab allocator or a block pool may be destroyed on another thread while a
// FreeingThread of that thread names its lane: a source makes a record with strings, and a sink
// destroys it.
//
// Invariant: resources and allocators are equal exactly when they stand for the same allocator
// object. They own nothing, and the allocator must outlive the containers.
#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/memory/block_pool.hpp>
#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/static_arena.hpp>
#include <strid/memory/tlsf.hpp>

namespace strid::memory {

/// While it lives, memory of an allocator or a pool that containers free on this thread goes over
/// `lane`. Without it, memory goes straight home, which only the owner may do. Scopes nest,
/// innermost first.
class FreeingThread {
  public:
    /// `lane` is one of the allocator's, used by this thread alone while the scope lasts.
    FreeingThread(SlabAllocator& allocator, std::size_t lane) noexcept;
    /// The end of the scope publishes the blocks that the lane still gathers.
    FreeingThread(BlockPool& pool, std::size_t lane) noexcept;
    ~FreeingThread();
    FreeingThread(const FreeingThread&) = delete;
    FreeingThread& operator=(const FreeingThread&) = delete;

    /// Frees over the lane, or as the owner on a thread without a scope for this allocator or pool.
    static void free(SlabAllocator& allocator, void* memory) noexcept;
    /// The same for blocks of a pool.
    static void free(BlockPool& pool, Block* block) noexcept;

  private:
    /// The innermost scope of this thread that names `home`, or null.
    static const FreeingThread* of(const void* home) noexcept;

    const void* home_;
    BlockPool* pool_ = nullptr;
    std::size_t lane_;
    FreeingThread* outer_;
};

/// A block pool in the form that containers use. A piece of more than half a block and at most a
/// block takes a block, in debt when all are out. All other pieces come from `upstream`, which must
/// allow allocation and freeing on the threads that do so.
///
/// Invariant: size and alignment alone decide where a piece comes from, so that it is freed there.
class BlockMemory {
  public:
    /// Blocks come from `pool`; what is larger than a block comes from `upstream`.
    explicit BlockMemory(BlockPool& pool, std::pmr::memory_resource& upstream =
                                              *std::pmr::new_delete_resource()) noexcept
        : pool_(&pool), upstream_(&upstream) {}

    /// Owner of the pool. May throw std::bad_alloc.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
        if (!lies_in_a_block(bytes, alignment)) return upstream_->allocate(bytes, alignment);
        return pool_->lease_in_debt()->payload();
    }
    /// Owner of the pool, or a thread with a FreeingThread of it.
    void free(void* piece, std::size_t bytes, std::size_t alignment) noexcept {
        if (!lies_in_a_block(bytes, alignment)) {
            upstream_->deallocate(piece, bytes, alignment);
        } else {
            FreeingThread::free(*pool_, reinterpret_cast<Block*>(static_cast<std::byte*>(piece) -
                                                                 cache_line_bytes));
        }
    }

  private:
    [[nodiscard]] bool lies_in_a_block(std::size_t bytes, std::size_t alignment) const noexcept {
        const std::size_t block = pool_->payload_bytes();
        return bytes <= block && bytes > block / 2 && alignment <= cache_line_bytes;
    }

    BlockPool* pool_;
    std::pmr::memory_resource* upstream_;
};

namespace detail {

inline void free_in(SlabAllocator& memory, void* piece, std::size_t, std::size_t) noexcept {
    FreeingThread::free(memory, piece);
}
inline void free_in(StaticArena& memory, void* piece, std::size_t, std::size_t) noexcept {
    memory.deallocate_local(piece);
}
inline void free_in(Tlsf& memory, void* piece, std::size_t, std::size_t) noexcept {
    memory.deallocate(piece);
}
inline void free_in(BlockMemory& memory, void* piece, std::size_t bytes,
                    std::size_t alignment) noexcept {
    memory.free(piece, bytes, alignment);
}

}  // namespace detail

/// A `std::pmr::memory_resource` over an allocator of this room.
template <class Memory>
class MemoryResource final : public std::pmr::memory_resource {
  public:
    /// `memory` outlives the resource.
    explicit MemoryResource(Memory& memory) noexcept : memory_(&memory) {}

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return memory_->allocate(bytes, alignment);
    }
    void do_deallocate(void* piece, std::size_t bytes, std::size_t alignment) override {
        detail::free_in(*memory_, piece, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        const auto* const same_kind = dynamic_cast<const MemoryResource*>(&other);
        return same_kind != nullptr && same_kind->memory_ == memory_;
    }

    Memory* memory_;
};

/// Of a slab allocator: allocated by one thread, freed by any.
using SlabResource = MemoryResource<SlabAllocator>;
/// Of a static arena: freed when the arena goes.
using ArenaResource = MemoryResource<StaticArena>;
/// For state with bounded response times: each call takes a fixed number of steps (tlsf.hpp).
using TlsfResource = MemoryResource<Tlsf>;
/// Of the blocks of a pool.
using BlockResource = MemoryResource<BlockMemory>;

/// An STL allocator over an allocator of this room; no virtual call.
template <class T, class Memory>
class StlAllocator {
  public:
    /// The type of the objects.
    using value_type = T;

    /// `memory` outlives the allocator and all copies of it.
    explicit StlAllocator(Memory& memory) noexcept : memory_(&memory) {}
    /// Of the same memory.
    template <class U>
    StlAllocator(const StlAllocator<U, Memory>& other) noexcept : memory_(other.memory_) {}

    /// Memory for `count` objects. Throws std::bad_alloc.
    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            throw std::bad_array_new_length{};
        }
        return static_cast<T*>(memory_->allocate(count * sizeof(T), alignof(T)));
    }
    /// Gives back what allocate() returned for the same `count`.
    void deallocate(T* piece, std::size_t count) noexcept {
        detail::free_in(*memory_, piece, count * sizeof(T), alignof(T));
    }

    /// Whether either can free what the other allocated.
    template <class U>
    bool operator==(const StlAllocator<U, Memory>& other) const noexcept {
        return memory_ == other.memory_;
    }

  private:
    template <class U, class M>
    friend class StlAllocator;

    Memory* memory_;
};

/// Of a slab allocator.
template <class T>
using SlabStlAllocator = StlAllocator<T, SlabAllocator>;
/// Of a static arena.
template <class T>
using ArenaStlAllocator = StlAllocator<T, StaticArena>;
/// In constant time.
template <class T>
using TlsfStlAllocator = StlAllocator<T, Tlsf>;
/// Of the blocks of a pool.
template <class T>
using BlockStlAllocator = StlAllocator<T, BlockMemory>;

}  // namespace strid::memory
