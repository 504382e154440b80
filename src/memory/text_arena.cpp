// SPDX-License-Identifier: Apache-2.0
//
// Sends chunks of text home when their last reference is dropped, on any thread.
#include <new>

#include <strid/engine/base/cache_line.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid::memory {

namespace detail {

// The part of a pool that its chunks need. It lives until pool and chunks are all gone: it counts
// one holder for the pool and one for each chunk that is out.
class TextHome {
  public:
    static void free_chunk(TextChunk* chunk) noexcept {
        chunk->~TextChunk();
        ::operator delete(chunk, std::align_val_t{cache_line_bytes});
    }
    static void free_chain(TextChunk* chunk) noexcept {
        while (chunk != nullptr) {
            TextChunk* const next = chunk->next_;
            free_chunk(chunk);
            chunk = next;
        }
    }

    // The pool, when it leases. Relaxed: the pool is a holder itself meanwhile.
    void add_holder() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }

    void drop_holder() noexcept {
        // Pairs with itself: the last holder sees every push of the others.
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        free_chain(returned_.load(std::memory_order_relaxed));
        delete this;
    }

    // The last reference of a chunk, any thread.
    void come_home(TextChunk* chunk) noexcept {
        if (chunk->one_off_) {
            large_returned_.fetch_add(1, std::memory_order_relaxed);
            free_chunk(chunk);
        } else if (closed_.load(std::memory_order_relaxed)) {
            free_chunk(chunk);  // a hint: if it is missed, the last holder frees the chunk
        } else {
            chunk->next_ = returned_.load(std::memory_order_relaxed);
            // Release pairs with the acquire in take_all(). A stack that is only ever emptied as a
            // whole has no ABA problem.
            while (!returned_.compare_exchange_weak(chunk->next_, chunk, std::memory_order_release,
                                                    std::memory_order_relaxed)) {
            }
        }
        drop_holder();
    }

    // The pool. Pairs with the compare-exchange in come_home().
    TextChunk* take_all() noexcept {
        if (returned_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return returned_.exchange(nullptr, std::memory_order_acquire);
    }

    // Called when the pool is destroyed.
    void close() noexcept { closed_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t large_returned() const noexcept {
        return large_returned_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t returned_chunks_quiescent() const noexcept {
        std::uint64_t count = 0;
        for (const TextChunk* chunk = returned_.load(std::memory_order_acquire);  // as take_all()
             chunk != nullptr; chunk = chunk->next_) {
            ++count;
        }
        return count;
    }

  private:
    // One line, written by every dropper of a last reference: once per chunk, not per record.
    alignas(cache_line_bytes) std::atomic<TextChunk*> returned_{nullptr};
    std::atomic<std::uint64_t> holders_{1};
    std::atomic<std::uint64_t> large_returned_{0};
    std::atomic<bool> closed_{false};
};
static_assert(sizeof(TextHome) == cache_line_bytes);

}  // namespace detail

static_assert(sizeof(TextChunk) <= cache_line_bytes);

void TextChunk::send_home() noexcept {
    home_->come_home(this);
}

TextPool::TextPool(std::size_t chunk_bytes, std::size_t capacity_chunks)
    : chunk_bytes_(chunk_bytes), capacity_chunks_(capacity_chunks), home_(nullptr) {
    STRID_ASSERT(chunk_bytes >= 1 && capacity_chunks >= 1);
    home_ = new detail::TextHome;
    try {
        free_ = acquire(chunk_bytes_, false);
    } catch (...) {
        home_->drop_holder();
        throw;
    }
    acquired_chunks_ = 1;
    free_chunks_ = 1;
}

TextPool::~TextPool() {
    home_->close();
    detail::TextHome::free_chain(free_);
    detail::TextHome::free_chain(home_->take_all());
    home_->drop_holder();
}

TextChunk* TextPool::acquire(std::size_t bytes, bool one_off) {
    if (bytes > SIZE_MAX - sizeof(TextChunk)) throw std::bad_alloc{};
    void* const memory =
        ::operator new(sizeof(TextChunk) + bytes, std::align_val_t{cache_line_bytes});
    return new (memory) TextChunk(home_, bytes, one_off);
}

void TextPool::collect() noexcept {
    for (TextChunk* chunk = home_->take_all(); chunk != nullptr;) {
        TextChunk* const next = chunk->next_;
        chunk->next_ = free_;
        free_ = chunk;
        ++free_chunks_;
        tallies_.count_returned();
        chunk = next;
    }
}

TextReference TextPool::try_lease() noexcept {
    if (free_ == nullptr) collect();
    if (free_ == nullptr && acquired_chunks_ < capacity_chunks_) {
        try {
            free_ = acquire(chunk_bytes_, false);
            ++acquired_chunks_;
            ++free_chunks_;
        } catch (const std::bad_alloc&) {
            // Refused below: a chunk that is out will come back.
        }
    }
    if (free_ == nullptr) {
        tallies_.misses.add();
        return {};
    }
    TextChunk* const chunk = free_;
    free_ = chunk->next_;
    chunk->next_ = nullptr;
    --free_chunks_;
    home_->add_holder();
    tallies_.leased.add();
    return TextReference(chunk);
}

TextReference TextPool::lease_large(std::size_t bytes) {
    TextChunk* const chunk = acquire(bytes, true);
    home_->add_holder();
    tallies_.debt.add();
    return TextReference(chunk);
}

PoolCounters TextPool::counters() const noexcept {
    const std::uint64_t large_returned = home_->large_returned();
    PoolCounters counters = tallies_.read();
    counters.leased += counters.debt;
    counters.returned += large_returned;
    return counters;
}

bool TextPool::is_valid() const {
    std::size_t at_home = 0;
    for (const TextChunk* chunk = free_; chunk != nullptr; chunk = chunk->next_) {
        if (chunk->home_ != home_ || chunk->one_off_ || chunk->capacity() != chunk_bytes_ ||
            chunk->references_.load(std::memory_order_relaxed) != 0 || ++at_home > free_chunks_) {
            return false;
        }
    }
    const std::uint64_t out = tallies_.out();
    return at_home == free_chunks_ && acquired_chunks_ <= capacity_chunks_ &&
           acquired_chunks_ == free_chunks_ + out && home_->returned_chunks_quiescent() <= out;
}

}  // namespace strid::memory
