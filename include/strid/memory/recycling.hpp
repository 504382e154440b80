// SPDX-License-Identifier: Apache-2.0
//
// Memory that is used again, for states that come and go with their records and have lists or
// tables of their own (window/aggregates/t_digest.hpp, hyper_log_log.hpp, distinct.hpp): what one
// lets go of is what the next one of that size gets, so that in the long run they ask the heap for
// nothing.
//
// Free pieces lie in lists by size class: a few in those of the thread, the rest in common ones,
// where the memory goes that one thread gets and another lets go of, a chain of pieces at a time. A
// piece costs a few instructions, a chain a mutex of its class.
//
// Threads: any, at any time. Nothing is kept for good: the common lists take pieces only while a
// RecyclingScope lives, as one does in every run, and go back to the heap with the last of them;
// the lists of a thread with the thread.
//
// Law: a thread has at most `kept_max` free pieces of a class; the common lists are empty while no
// scope lives. What is kept of a class is what was in use of it at once at most, and so many pieces
// more for each thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include <strid/memory/size_class.hpp>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace strid::memory {

/// While one lives, memory that no thread needs now is kept for the next that does. The last one
/// gives it back, with what its own thread has kept. Any thread.
class RecyclingScope {
  public:
    /// From here on memory is kept.
    RecyclingScope() noexcept;
    ~RecyclingScope();
    RecyclingScope(const RecyclingScope&) = delete;
    RecyclingScope& operator=(const RecyclingScope&) = delete;
};

namespace detail {

/// What lies in a free piece.
struct FreePiece {
    FreePiece* next = nullptr;
    FreePiece* next_chain = nullptr;  // of the first piece of a chain in a common list
};

/// Of one thread. Its first piece, and how many more it takes.
struct FreePieces {
    FreePiece* first = nullptr;
    std::size_t room = 0;
};

/// Up to 4 GiB; what is larger comes from the heap and goes there.
inline constexpr std::size_t recycled_classes = size_class_index(std::size_t{1} << 32) + 1;

/// Without room until the thread lets go of a piece for the first time, and when it has ended.
inline constinit thread_local std::array<FreePieces, recycled_classes> recycled_here{};

/// Where the thread has no free piece, or no room for one.
[[nodiscard]] void* take_elsewhere(std::size_t size_class);
void give_elsewhere(FreePiece* piece, std::size_t size_class) noexcept;

// The address sanitizer sees who reads a piece that is free, or behind what was asked for.
inline void show_use([[maybe_unused]] void* piece, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
#endif
}
inline void show_free([[maybe_unused]] FreePiece* piece,
                      [[maybe_unused]] std::size_t size_class) noexcept {
#ifdef __SANITIZE_ADDRESS__
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
        piece = take_elsewhere(size_class);
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
        return give_elsewhere(piece, size_class);
    new (piece) FreePiece{here.first};
    here.first = piece;
    --here.room;
}

}  // namespace detail

/// An STL allocator of memory that is used again. Stateless: containers move, swap and are
/// destroyed on any thread as with std::allocator. O(1), four sizes a doubling; for types aligned
/// to at most 16 bytes. Throws std::bad_alloc.
template <class T>
struct RecyclingAllocator {
    /// What is allocated.
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

    /// Always: memory is of the thread that frees it.
    template <class U>
    bool operator==(const RecyclingAllocator<U>&) const noexcept {
        return true;
    }
};

}  // namespace strid::memory
