// SPDX-License-Identifier: Apache-2.0
//
// Groups of rows by key and place (a pane of time, a bucket): records of a size that is known at
// run time, which stay where they are, and a table of slots of 8 bytes that finds them. A search
// reads a record only where 32 bits of the hash are equal, and rows of a chunk are found with
// prefetches of slots and records ahead.
//
// A record is a Group, the words of its key, and a state of zeros that the operator fills.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <strid/base/hash.hpp>

#include "key_rows.hpp"

namespace strid::table {

/// Records of one size, in pages. Free ones are used again.
class RecordPool {
  public:
    /// Of so many bytes, a multiple of 8.
    explicit RecordPool(std::size_t bytes);

    /// All zeros; the number, from 1, is of no other record that is in use.
    [[nodiscard]] std::byte* make(std::uint32_t& number);
    /// The record is free.
    void free(std::uint32_t number) noexcept;
    [[nodiscard]] std::byte* at(std::uint32_t number) const noexcept {
        const std::size_t place = number - 1;
        return pages_[place >> page_bits_].get() + (place & (records_per_page() - 1)) * bytes_;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    [[nodiscard]] std::size_t records_per_page() const noexcept {
        return std::size_t{1} << page_bits_;
    }

    std::size_t bytes_;
    unsigned page_bits_;
    std::vector<std::unique_ptr<std::byte[]>> pages_;
    std::uint32_t made_ = 0;
    std::uint32_t free_ = 0;  // the first; each has the number of the next
};

struct Group {
    std::uint64_t hash;  // of the key
    std::int64_t place;
    Group* next;           // for the operator
    std::uint32_t number;  // in the pool
    std::uint32_t mark;    // for the operator

    [[nodiscard]] std::uint64_t* key() noexcept {
        return reinterpret_cast<std::uint64_t*>(this + 1);
    }
    [[nodiscard]] const std::uint64_t* key() const noexcept {
        return reinterpret_cast<const std::uint64_t*>(this + 1);
    }
};

class GroupTable {
  public:
    /// Keys are copied with their long texts; or with `borrows_texts` with pointers to them.
    GroupTable(std::shared_ptr<const KeyRows> keys, std::size_t state_bytes,
               bool borrows_texts = false);
    GroupTable(const GroupTable&) = delete;
    GroupTable& operator=(const GroupTable&) = delete;
    ~GroupTable();

    [[nodiscard]] const KeyRows& keys() const noexcept { return *keys_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::byte* state(Group* group) const noexcept {
        return reinterpret_cast<std::byte*>(group) + state_at_;
    }
    [[nodiscard]] const std::byte* state(const Group* group) const noexcept {
        return reinterpret_cast<const std::byte*>(group) + state_at_;
    }

    /// The group; null: there is none.
    [[nodiscard]] Group* find(std::uint64_t hash, std::int64_t place,
                              const std::uint64_t* key) const noexcept {
        const std::uint32_t tag = tag_of(hash, place);
        for (std::size_t at = tag & mask_; slots_[at].number != 0; at = (at + 1) & mask_) {
            if (slots_[at].tag != tag) continue;
            Group* const group = at_number(slots_[at].number);
            if (group->hash == hash && group->place == place && keys_->same(group->key(), key)) {
                return group;
            }
        }
        return nullptr;
    }
    /// A new group, which must not be there.
    Group* make(std::uint64_t hash, std::int64_t place, const std::uint64_t* key) {
        Group* const group = add(hash, place);
        copy_key(group, key);
        return group;
    }
    /// A new group with a key that load() has made, and owns its texts.
    Group* adopt(std::uint64_t hash, std::int64_t place, const std::uint64_t* key);
    /// The group leaves; its state has been let go.
    void erase(Group* group) noexcept;
    /// All groups leave.
    void clear() noexcept;

    /// For each of `count` rows its group; `made(row, group)` is called for those that are new, in
    /// the order of the rows. `keys` and `hashes` are those of the first row, and of those behind.
    template <class Made>
    void find_rows(const std::uint64_t* keys, const std::uint64_t* hashes,
                   const std::int64_t* places, std::size_t count, Group** groups,
                   const Made& made) {
        constexpr std::size_t slots_ahead = 24;
        constexpr std::size_t records_ahead = 12;
        // A small table is in the nearest caches.
        const bool is_large = mask_ >= large_slots;
        const std::size_t words = keys_->words();
        for (std::size_t row = 0; row != count; ++row) {
            if (is_large) {
                if (row + slots_ahead < count) {
                    const std::size_t ahead = row + slots_ahead;
                    __builtin_prefetch(&slots_[tag_of(hashes[ahead], places[ahead]) & mask_]);
                }
                if (row + records_ahead < count) {
                    const std::size_t ahead = row + records_ahead;
                    const Slot slot = slots_[tag_of(hashes[ahead], places[ahead]) & mask_];
                    if (slot.number != 0) __builtin_prefetch(pool_.at(slot.number), 1);
                }
            }
            const std::uint64_t* const key = keys + row * words;
            Group* group = find(hashes[row], places[row], key);
            if (group == nullptr) [[unlikely]] {
                group = make(hashes[row], places[row], key);
                made(row, group);
            }
            groups[row] = group;
        }
    }

  private:
    struct Slot {
        std::uint32_t tag;
        std::uint32_t number;  // 0: empty
    };
    static constexpr std::size_t large_slots = 8192;

    [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash, std::int64_t place) noexcept {
        const std::uint64_t mixed = strid::detail::fold_multiply(
            hash ^ strid::detail::hash_secret[0],
            static_cast<std::uint64_t>(place) ^ strid::detail::hash_secret[1]);
        return static_cast<std::uint32_t>(mixed ^ mixed >> 32);
    }
    [[nodiscard]] Group* at_number(std::uint32_t number) const noexcept {
        return reinterpret_cast<Group*>(pool_.at(number));
    }
    Group* add(std::uint64_t hash, std::int64_t place);
    void copy_key(Group* group, const std::uint64_t* key);
    void grow();
    void insert(Slot slot) noexcept;

    std::shared_ptr<const KeyRows> keys_;
    std::size_t state_at_;
    bool borrows_texts_;
    RecordPool pool_;
    std::vector<Slot> slots_;
    std::size_t mask_;
    std::size_t size_ = 0;
};

}  // namespace strid::table
