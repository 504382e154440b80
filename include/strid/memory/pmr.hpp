// SPDX-License-Identifier: Apache-2.0
//
// The allocators of this room in the two forms that the standard library takes: polymorphic memory
// resources (`std::pmr`) and STL allocators, over the slab allocator and over the static arena.
// (A block pool has one size only and refuses when it is used up: no container could live with it.)
//
// Threads: containers allocate on the allocator's owner thread. A container over a slab allocator
// may be destroyed on another thread while a FreeingThread of that thread names its lane, as when
// a record with strings is made by a source and destroyed by a sink.
//
// Law: resources and allocators are equal exactly when they stand for the same allocator object;
// they own nothing, and the allocator outlives the containers.
#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>

#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/static_arena.hpp>

namespace strid::memory {

/// While it lives, memory of `allocator` that containers free on this thread goes over `lane`
/// instead of straight home, which only the owner may do. Scopes nest, innermost first.
class FreeingThread {
  public:
    FreeingThread(SlabAllocator& allocator, std::size_t lane) noexcept;
    ~FreeingThread();
    FreeingThread(const FreeingThread&) = delete;
    FreeingThread& operator=(const FreeingThread&) = delete;

    /// Frees by lane or, on a thread that named none for this allocator, as its owner.
    static void free(SlabAllocator& allocator, void* memory) noexcept;

  private:
    SlabAllocator* allocator_;
    std::size_t lane_;
    FreeingThread* outer_;
};

namespace detail {

inline void free_in(SlabAllocator& memory, void* piece) noexcept {
    FreeingThread::free(memory, piece);
}
inline void free_in(StaticArena& memory, void* piece) noexcept {
    memory.deallocate_local(piece);
}

}  // namespace detail

/// A `std::pmr::memory_resource` over an allocator of this room.
template <class Memory>
class MemoryResource final : public std::pmr::memory_resource {
  public:
    explicit MemoryResource(Memory& memory) noexcept : memory_(&memory) {}

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return memory_->allocate(bytes, alignment);
    }
    void do_deallocate(void* piece, std::size_t, std::size_t) override {
        detail::free_in(*memory_, piece);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        const auto* const same_kind = dynamic_cast<const MemoryResource*>(&other);
        return same_kind != nullptr && same_kind->memory_ == memory_;
    }

    Memory* memory_;
};

using SlabResource = MemoryResource<SlabAllocator>;
using ArenaResource = MemoryResource<StaticArena>;

/// An STL allocator over an allocator of this room; no virtual call.
template <class T, class Memory>
class StlAllocator {
  public:
    using value_type = T;

    explicit StlAllocator(Memory& memory) noexcept : memory_(&memory) {}
    template <class U>
    StlAllocator(const StlAllocator<U, Memory>& other) noexcept : memory_(other.memory_) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            throw std::bad_array_new_length{};
        }
        return static_cast<T*>(memory_->allocate(count * sizeof(T), alignof(T)));
    }
    void deallocate(T* piece, std::size_t) noexcept { detail::free_in(*memory_, piece); }

    template <class U>
    bool operator==(const StlAllocator<U, Memory>& other) const noexcept {
        return memory_ == other.memory_;
    }

  private:
    template <class U, class M>
    friend class StlAllocator;

    Memory* memory_;
};

template <class T>
using SlabStlAllocator = StlAllocator<T, SlabAllocator>;
template <class T>
using ArenaStlAllocator = StlAllocator<T, StaticArena>;

}  // namespace strid::memory
