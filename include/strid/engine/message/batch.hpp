// SPDX-License-Identifier: Apache-2.0
//
// The batch: a typed block of records, the only object that travels between tasks.
//
// A leased memory::Block holds at the start of its payload a BatchHeader, then records of one type
// in place:
//
//     | Block (64 B, the pool's) | BatchHeader (128 B) | record | record | ... | unused |
//
// Owner: the producer from lease to send, then the readers. A single reader owns the batch alone
// and may change the records or move from them; with several readers (multicast: references > 1)
// they only read. The last reader to release it destroys all `count` records, drops the texts and
// sends the block home.
//
// Invariant: records [0, count) are alive from send to the last release, and `texts` keeps alive
// every text that a record refers to.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include <strid/base/heap_bytes.hpp>
#include <strid/base/watermark.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/memory/block_pool.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid::message {

/// A record beside the hash of its key: the element type of a key_by edge. The producer hashes the
/// key once, and the consumer's state table does not hash it again.
template <class T>
struct Hashed {
    T record;            ///< As it was sent.
    std::uint64_t hash;  ///< Of the record's key, by the engine's hash (base/hash.hpp).

    /// As base/heap_bytes.hpp asks it: what the record owns on the heap.
    [[nodiscard]] std::size_t heap_bytes() const
        requires owns_heap<T>
    {
        return heap_bytes_of(record);
    }
};

inline constexpr std::int64_t no_ingress = std::numeric_limits<std::int64_t>::max();

/// The description of a batch. Written by the producer before the send, read by the consumers after
/// it (the channel orders the two).
struct alignas(cache_line_bytes) BatchHeader {
    /// How many texts a batch may refer to; a batch that would get more is sent first.
    static constexpr std::size_t texts_max = 8;
    /// How many texts it can keep alive: those, and those of operators that it passes.
    static constexpr std::size_t texts_room = 10;

    std::uint32_t count = 0;  ///< Records alive in the block.
    std::uint8_t text_count = 0;
    bool is_barrier = false;               ///< Of a snapshot (engine/kernel/snapshot_cut.hpp).
    bool ends_sequence = false;            ///< The last batch that was derived from `sequence`.
    bool below_watermark = false;          ///< A record may be below an earlier watermark.
    std::uint64_t sequence = 0;            ///< Place in the order of the stream, for `ordered`.
    std::int64_t ingress_ns = no_ingress;  ///< When the oldest record entered the graph (now_ns()).
    Progress progress;                     ///< The sender's watermark after this batch.
    void (*destroy)(BatchHeader&) noexcept = nullptr;  ///< Null for trivially destructible records.
    std::array<memory::TextReference, texts_room> texts;

    [[nodiscard]] std::byte* records() noexcept;
};

inline constexpr std::size_t header_bytes =
    (sizeof(BatchHeader) + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
static_assert(header_bytes == 2 * cache_line_bytes, "the header takes two lines");

inline std::byte* BatchHeader::records() noexcept {
    return reinterpret_cast<std::byte*>(this) + header_bytes;
}

/// Measurements of a batch that was chosen for the sample of latency by origin
/// (engine/kernel/split_clock.hpp). Written before the send and read after it, as the header is.
struct BatchSample {
    static constexpr float unknown = -1;

    std::int64_t sent_ns;  ///< now_ns() of the send; 0: not in the sample, the rest is void.
    /// Time since the record entered the graph, in operators and in the engine; `unknown` if the
    /// batch was chosen later on its way.
    float user_ns;
    float engine_ns;
};
static_assert(sizeof(BatchSample) == sizeof(memory::Block::note) && alignof(BatchSample) <= 8);

/// The sample of a batch. Constant time.
[[nodiscard]] inline BatchSample& sample_of(memory::Block& batch) noexcept {
    return *std::launder(reinterpret_cast<BatchSample*>(batch.note.data()));
}

/// The header of a leased block. Constant time.
[[nodiscard]] inline BatchHeader& header_of(memory::Block& block) noexcept {
    return *std::launder(reinterpret_cast<BatchHeader*>(block.payload()));
}

/// Gives a freshly leased block an empty header.
inline BatchHeader& open_batch(memory::Block& block) noexcept {
    (::new (static_cast<void*>(block.note.data())) BatchSample)->sent_ns = 0;
    return *::new (static_cast<void*>(block.payload())) BatchHeader;
}

template <class T>
[[nodiscard]] T* records_of(BatchHeader& header) noexcept {
    return std::launder(reinterpret_cast<T*>(header.records()));
}

/// Destroys the records of a batch of `T`; `BatchHeader::destroy` points to it.
template <class T>
void destroy_records(BatchHeader& header) noexcept {
    std::destroy_n(records_of<T>(header), header.count);
}

/// Makes the batch keep `text` alive. False when it has texts_max already: send the batch first.
[[nodiscard]] inline bool keep_alive(BatchHeader& header, const memory::TextReference& text,
                                     std::size_t most = BatchHeader::texts_max) noexcept {
    const auto kept = header.texts.begin() + header.text_count;
    if (std::find(header.texts.begin(), kept, text) != kept) return true;
    if (header.text_count >= most) return false;
    header.texts[header.text_count++] = text;
    return true;
}

/// Ends the batch: destroys the records and drops the texts. The caller still has the block.
inline void close_batch(memory::Block& block) noexcept {
    BatchHeader& header = header_of(block);
    if (header.destroy != nullptr) header.destroy(header);
    std::destroy_at(&header);
}

/// One reader is done with a batch. The last reader closes it and sends the block home through its
/// own return lane. True when this call sent it home. With `record_bytes`, the size of a record,
/// the last reader also takes ownership of the cache lines that it sends home
/// (engine/base/prefetch.hpp); with 0 it leaves them as they are.
inline bool release(memory::Block& block, std::size_t lane, std::size_t record_bytes = 0) noexcept {
    // A single reader needs no atomic read-modify-write. Acquire pairs with the release half of
    // the other readers' fetch_sub: their reads of the records come before the destruction.
    if (block.references.load(std::memory_order_acquire) != 1 &&
        block.references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return false;
    }
    block.references.store(1, std::memory_order_relaxed);  // ordered by the lane's publication
    const std::size_t used_bytes = header_bytes + header_of(block).count * record_bytes;
    STRID_ASSERT(used_bytes <= block.payload_bytes);
    close_batch(block);
    if (record_bytes != 0) reclaim_lines(block.payload(), used_bytes);
    return block.home->release(&block, lane);
}

}  // namespace strid::message
