// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <mutex>

#include <strid/engine/base/cache_line.hpp>
#include <strid/memory/recycling.hpp>

namespace strid::memory {

namespace {

using detail::FreePiece;
using detail::FreePieces;
using detail::recycled_classes;
using detail::recycled_here;

/// Pieces that go to and from the common list together. Large pieces move one at a time: filling
/// one takes so long that the cost of a mutex does not matter.
constexpr std::size_t chain_bytes_max = std::size_t{32} << 10;
constexpr std::size_t chain_length_max = 16;

constexpr std::size_t chain_length(std::size_t size_class) noexcept {
    return std::clamp(chain_bytes_max / detail::size_class_bytes(size_class), std::size_t{1},
                      chain_length_max);
}
/// Free pieces that a thread keeps: a chain that it may need again, and one to give away.
constexpr std::size_t kept_max(std::size_t size_class) noexcept {
    const bool is_large = detail::size_class_bytes(size_class) > chain_bytes_max;
    return is_large ? 0 : 2 * chain_length(size_class);
}

struct alignas(cache_line_bytes) CommonPieces {
    std::mutex mutex;
    FreePiece* chains = nullptr;
};
constinit std::array<CommonPieces, recycled_classes> common{};

// Read under the mutex of a class. A thread that finds a scope there has added its chain before
// that class is emptied, because the last scope is counted down before it takes the mutex.
constinit std::atomic<std::size_t> scopes{0};

void to_heap(FreePiece* chain) noexcept {
    while (chain != nullptr) {
        FreePiece* const next = chain->next;
        ::operator delete(chain);
        chain = next;
    }
}

void to_common(FreePiece* chain, std::size_t size_class) noexcept {
    CommonPieces& pieces = common[size_class];
    {
        const std::scoped_lock lock{pieces.mutex};
        if (scopes.load(std::memory_order_relaxed) != 0) {
            chain->next_chain = std::exchange(pieces.chains, chain);
            return;
        }
    }
    to_heap(chain);
}

/// Null if there is none.
FreePiece* from_common(std::size_t size_class) noexcept {
    CommonPieces& pieces = common[size_class];
    const std::scoped_lock lock{pieces.mutex};
    FreePiece* const chain = pieces.chains;
    if (chain != nullptr) pieces.chains = chain->next_chain;
    return chain;
}

/// The next chain of a thread's list, which is not empty.
FreePiece* cut(FreePieces& here, std::size_t size_class) noexcept {
    FreePiece* const chain = here.first;
    FreePiece* last = chain;
    std::size_t length = 1;
    for (; length != chain_length(size_class) && last->next != nullptr; ++length) last = last->next;
    here.first = std::exchange(last->next, nullptr);
    here.room += length;
    return chain;
}

void empty_this_thread() noexcept {
    for (std::size_t size_class = 0; size_class != recycled_classes; ++size_class) {
        FreePieces& here = recycled_here[size_class];
        while (here.first != nullptr) to_common(cut(here, size_class), size_class);
    }
}

// This thread has stopped to keep free pieces. Other objects of the thread may be destroyed later.
constinit thread_local bool room_is_gone = false;

/// Gives this thread room for free pieces; the end of the thread takes it away.
struct RoomOfThread {
    RoomOfThread() noexcept {
        for (std::size_t size_class = 0; size_class != recycled_classes; ++size_class) {
            recycled_here[size_class].room = kept_max(size_class);
        }
    }
    RoomOfThread(const RoomOfThread&) = delete;
    RoomOfThread& operator=(const RoomOfThread&) = delete;
    ~RoomOfThread() {
        room_is_gone = true;
        empty_this_thread();
        for (FreePieces& here : recycled_here) here.room = 0;
    }
};

/// Whether this thread has room for free pieces. The first call makes room.
bool has_room() noexcept {
    if (room_is_gone) return false;
    static thread_local const RoomOfThread room;
    return true;
}

}  // namespace

namespace detail {

void* take_without_piece(std::size_t size_class) {
    FreePiece* const piece = from_common(size_class);
    if (piece == nullptr) return ::operator new(size_class_bytes(size_class));
    if (piece->next == nullptr) return piece;
    if (!has_room()) {
        to_common(piece->next, size_class);
        return piece;
    }
    FreePieces& here = recycled_here[size_class];
    here.first = piece->next;
    for (const FreePiece* next = here.first; next != nullptr; next = next->next) --here.room;
    return piece;
}

void give_without_room(FreePiece* piece, std::size_t size_class) noexcept {
    FreePieces& here = recycled_here[size_class];
    new (piece) FreePiece{};
    if (kept_max(size_class) == 0 || !has_room()) return to_common(piece, size_class);
    if (here.room == 0) to_common(cut(here, size_class), size_class);
    piece->next = std::exchange(here.first, piece);
    --here.room;
}

}  // namespace detail

RecyclingScope::RecyclingScope() noexcept {
    scopes.fetch_add(1, std::memory_order_relaxed);
}

RecyclingScope::~RecyclingScope() {
    if (scopes.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    empty_this_thread();
    for (std::size_t size_class = 0; size_class != recycled_classes; ++size_class) {
        while (FreePiece* const chain = from_common(size_class)) to_heap(chain);
    }
}

}  // namespace strid::memory
