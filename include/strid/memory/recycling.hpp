// SPDX-License-Identifier: Apache-2.0
//
// Memory that is reused, for states that come and go with their records and have lists or tables
// (window/aggregates/t_digest.hpp, hyper_log_log.hpp, distinct.hpp). A state gets the memory that a
// former state of its size has freed, so that in the long run they request nothing from the heap.
//
// Free pieces are in lists by size class: a few in the lists of the thread, the rest in common
// lists. Memory that one thread allocates and another frees passes through the common lists, a
// chain of pieces at a time. A piece costs a few instructions, a chain the mutex of its class.
//
// Threads: any, at any time. Nothing is kept for good: the common lists take pieces only while a
// RecyclingScope lives, as one does in every run, and the last scope gives them back to the heap. A
// thread gives its lists back when it ends.
//
// Invariant: a thread has at most `kept_max` free pieces of a class; the common lists are empty
// while no scope lives. Of a class at most so many pieces are kept as were in use at once, and
// `kept_max` more for each thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include <strid/engine/base/sanitizers.hpp>
#include <strid/engine/memory/size_class.hpp>

#if STRID_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace strid::memory {

/// While a scope lives, memory that no thread needs now is kept for the next request. The end of
/// the last scope frees it, and the pieces that its own thread has kept. Any thread.
class RecyclingScope {
  public:
    /// From here on memory is kept.
    RecyclingScope() noexcept;
    ~RecyclingScope();
    RecyclingScope(const RecyclingScope&) = delete;
    RecyclingScope& operator=(const RecyclingScope&) = delete;
};

namespace detail {

/// The content of a free piece.
struct FreePiece {
    FreePiece* next = nullptr;
    FreePiece* next_chain = nullptr;  // in the first piece of a chain in a common list
};

/// The list of one thread: its first piece, and how many more it takes.
struct FreePieces {
    FreePiece* first = nullptr;
    std::size_t room = 0;
};

/// Up to 4 GiB; larger pieces come from the heap and go back there.
inline constexpr std::size_t recycled_classes = size_class_index(std::size_t{1} << 32) + 1;

/// It takes no pieces before the thread frees one for the first time, nor after the thread has
/// ended.
inline constinit thread_local std::array<FreePieces, recycled_classes> recycled_here{};

/// Called when the thread has no free piece, or no room for one.
[[nodiscard]] void* take_without_piece(std::size_t size_class);
void give_without_room(FreePiece* piece, std::size_t size_class) noexcept;

// With it the address sanitizer reports reads of a free piece, and reads beyond the requested size.
inline void show_use([[maybe_unused]] void* piece, [[maybe_unused]] std::size_t bytes) noexcept {
#if STRID_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
#endif
}
inline void show_free([[maybe_unused]] FreePiece* piece,
                      [[maybe_unused]] std::size_t size_class) noexcept {
#if STRID_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(piece, sizeof(FreePiece));
    ASAN_POISON_MEMORY_REGION(piece + 1, size_class_bytes(size_class) - sizeof(FreePiece));
#endif
}

[[nodiscard]] inline void* take_recycled(std::size_t bytes) {
    const std::size_t size_class = size_class_index(bytes);
    if (size_class >= recycled_classes) [[unlikely]]
        return ::operator new(bytes);
    FreePieces& here = recycled_here[size_class];
    void* piece = here.first;
    if (piece != nullptr) [[likely]] {
        here.first = here.first->next;
        ++here.room;
    } else {
        piece = take_without_piece(size_class);
    }
    show_use(piece, bytes);
    return piece;
}

inline void give_recycled(void* memory, std::size_t bytes) noexcept {
    const std::size_t size_class = size_class_index(bytes);
    if (size_class >= recycled_classes) [[unlikely]]
        return ::operator delete(memory);
    FreePieces& here = recycled_here[size_class];
    auto* const piece = static_cast<FreePiece*>(memory);
    show_free(piece, size_class);
    if (here.room == 0) [[unlikely]]
        return give_without_room(piece, size_class);
    new (piece) FreePiece{here.first};
    here.first = piece;
    --here.room;
}

}  // namespace detail

/// An STL allocator of reused memory. Stateless: containers move, swap and are destroyed on any
/// thread as with std::allocator. O(1), four sizes a doubling; for types aligned to at most 16
/// bytes. Throws std::bad_alloc.
template <class T>
struct RecyclingAllocator {
    /// The type of the objects.
    using value_type = T;

    RecyclingAllocator() = default;
    /// All are equal.
    template <class U>
    RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {}

    /// Memory for `count` objects, used before where there is some. Throws std::bad_alloc.
    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= SizeClasses::step_bytes);
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            throw std::bad_array_new_length{};
        }
        return static_cast<T*>(detail::take_recycled(count * sizeof(T)));
    }
    /// Keeps the memory for the next request of its size. Any thread.
    void deallocate(T* piece, std::size_t count) noexcept {
        detail::give_recycled(piece, count * sizeof(T));
    }

    /// Always: each may free what another has allocated.
    template <class U>
    bool operator==(const RecyclingAllocator<U>&) const noexcept {
        return true;
    }
};

}  // namespace strid::memory
