// SPDX-License-Identifier: Apache-2.0
//
// Chunks of bytes for variable-length data. A source reads input into a chunk and emits records
// whose text fields refer to it. Every batch with such records holds a reference to the chunk, and
// the last reference sends it back to the pool. Text therefore costs no allocation and no copy per
// record.
//
// Threads: one thread at a time (the source) uses the pool. References may be copied and dropped by
// any thread, each reference object by one thread at a time. Only the source writes the bytes,
// before it sends the records that refer to them.
//
// Invariant: a chunk is at home (0 references, in the pool's free list or on its way there) or out;
// if it is out, there is a TextReference object for each of its references.
//     chunks at home + chunks out <= capacity, one-off large chunks not counted.
// The pool may be destroyed before its chunks: the part of it that they need lives until the last
// chunk is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/memory/counters.hpp>

namespace strid::memory {

class TextReference;

namespace detail {
class TextHome;
}

/// A chunk of bytes; accessed through a TextReference only.
class TextChunk {
  public:
    TextChunk(const TextChunk&) = delete;
    TextChunk& operator=(const TextChunk&) = delete;

    /// All bytes of the chunk, uninitialised when leased.
    [[nodiscard]] std::span<char> bytes() noexcept {
        return {reinterpret_cast<char*>(this) + sizeof(TextChunk), capacity_bytes_};
    }
    /// For reading.
    [[nodiscard]] std::span<const char> bytes() const noexcept {
        return {reinterpret_cast<const char*>(this) + sizeof(TextChunk), capacity_bytes_};
    }
    /// In bytes.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_bytes_; }

  private:
    friend class TextReference;
    friend class TextPool;
    friend class detail::TextHome;

    TextChunk(detail::TextHome* home, std::size_t capacity_bytes, bool one_off) noexcept
        : home_(home), capacity_bytes_(capacity_bytes), one_off_(one_off) {}
    void send_home() noexcept;

    std::atomic<std::uint64_t> references_{0};
    TextChunk* next_ = nullptr;  // while at home
    detail::TextHome* home_;
    std::size_t capacity_bytes_;
    bool one_off_;  // never reused
};

/// Shared ownership of a chunk in one word: a copy adds a reference, and the last one sends the
/// chunk home. Null when default-constructed or moved from.
class TextReference {
  public:
    TextReference() noexcept = default;
    /// One reference more. Any thread that holds one.
    TextReference(const TextReference& other) noexcept : chunk_(other.chunk_) {
        // Relaxed: the copied object holds a reference already, so the chunk cannot go away.
        if (chunk_ != nullptr) chunk_->references_.fetch_add(1, std::memory_order_relaxed);
    }
    /// The reference moves; `other` has none any more.
    TextReference(TextReference&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
    TextReference& operator=(TextReference other) noexcept {
        std::swap(chunk_, other.chunk_);
        return *this;
    }
    ~TextReference() { reset(); }

    /// Drops this reference, after which it is null.
    void reset() noexcept {
        TextChunk* const chunk = std::exchange(chunk_, nullptr);
        if (chunk == nullptr) return;
        // Release and acquire pair with each other among all droppers: every use of the bytes
        // comes before the chunk is reused.
        if (chunk->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) chunk->send_home();
    }

    /// The chunk, or nullptr.
    [[nodiscard]] TextChunk* get() const noexcept { return chunk_; }
    /// The chunk; the reference must not be empty.
    TextChunk& operator*() const noexcept { return *chunk_; }
    /// The chunk; the reference must not be empty.
    TextChunk* operator->() const noexcept { return chunk_; }
    /// Whether there is a chunk.
    explicit operator bool() const noexcept { return chunk_ != nullptr; }
    /// References to this chunk now; exact only when it is 1 and this thread holds it. Everything
    /// that was done with the bytes under dropped references happens before.
    [[nodiscard]] std::uint64_t use_count() const noexcept {
        // Acquire pairs with the release half of reset().
        return chunk_ == nullptr ? 0 : chunk_->references_.load(std::memory_order_acquire);
    }
    bool operator==(const TextReference&) const noexcept = default;

  private:
    friend class TextPool;
    explicit TextReference(TextChunk* chunk) noexcept : chunk_(chunk) {
        chunk_->references_.store(1, std::memory_order_relaxed);  // no other thread sees it yet
    }

    TextChunk* chunk_ = nullptr;
};

/// A bounded pool of chunks. One thread leases; any thread drops the last reference.
class TextPool {
  public:
    /// Acquires the first chunk at once (see BlockPool), the others when needed. `capacity_chunks`
    /// at least 1. May throw std::bad_alloc.
    explicit TextPool(std::size_t chunk_bytes, std::size_t capacity_chunks);
    ~TextPool();
    TextPool(const TextPool&) = delete;
    TextPool& operator=(const TextPool&) = delete;

    /// A chunk of chunk_bytes(), or null when all are out.
    [[nodiscard]] TextReference try_lease() noexcept;

    /// A chunk of at least `bytes` that is freed after use and not reused: for a line that is
    /// longer than a chunk, or to continue when all chunks are out. Counted as debt. May throw
    /// std::bad_alloc.
    [[nodiscard]] TextReference lease_large(std::size_t bytes);

    /// Bytes of a bounded chunk.
    [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
    /// The most bounded chunks that are out at once.
    [[nodiscard]] std::size_t capacity_chunks() const noexcept { return capacity_chunks_; }
    /// Any thread. The high-water mark is for the bounded chunks, without the large ones.
    [[nodiscard]] PoolCounters counters() const noexcept;
    /// While no reference is being dropped. Checks the invariant above.
    [[nodiscard]] bool is_valid() const;

  private:
    TextChunk* acquire(std::size_t bytes, bool one_off);
    void collect() noexcept;

    std::size_t chunk_bytes_;
    std::size_t capacity_chunks_;
    std::size_t acquired_chunks_ = 0;  // reusable ones, wherever they are
    std::size_t free_chunks_ = 0;
    TextChunk* free_ = nullptr;
    detail::TextHome* home_;
    PoolTallies tallies_;
};

}  // namespace strid::memory
