// SPDX-License-Identifier: Apache-2.0
//
// The index of the states of keys: an open-addressing table of pointers to entries that never move.
// A lookup reads one slot and one entry, and seldom more: a slot is small, so at most half of them
// are taken, and a key is found at the slot of its hash or next to it (linear probing).
//
// A slot is a word: the pointer in the lower 48 bits, which is all that present processors use,
// above it a mark of two bits, and 14 bits of the hash. A lookup can therefore pass a slot of
// another key without reading that key's entry, which would be a cache miss for nothing.
//
// The mark divides the entries for snapshots (operator/keyed_state.hpp). A lookup finds those with
// the present mark, and does no more for it. An entry with the settled mark is as the last snapshot
// has it. One with any other mark is set apart: a snapshot is to save it. set_apart() chooses other
// marks, which changes what the marks of all entries mean at once.
//
// Threads: one. Invariant: each entry has one slot; between the slot of its hash and its own slot
// no slot is empty; at most half are taken. The present mark is not 0, and not the settled one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/base/text.hpp>
#include <strid/memory/table_allocator.hpp>

namespace strid::operators {

/// Equality of a record's key with a kept key, in this order: the comparison of texts depends on
/// the size of the first one, and the processor has the record's size long before the other.
template <class Key>
[[nodiscard, gnu::always_inline]] inline bool same_key(const Key& of_record, const Key& kept) {
    if constexpr (std::is_same_v<Key, std::string_view>) {
        return same_text(of_record, kept);
    } else {
        return of_record == kept;
    }
}

/// Lookups that run side by side when the states are far: about as many as the processor's memory
/// requests.
inline constexpr std::size_t looked_up_at_once = 16;

/// An index of entries by their members `key` and `hash`. It does not own them.
template <class Entry>
class KeyIndex {
    using Key = decltype(Entry::key);

  public:
    KeyIndex() = default;
    /// Operators are copied as prototypes, before their first record: a copy starts empty too.
    KeyIndex([[maybe_unused]] const KeyIndex& prototype) { STRID_ASSERT(prototype.size() == 0); }
    KeyIndex& operator=(const KeyIndex&) = delete;
    /// The index has the entries of the other, which has those of this one. O(1).
    void swap(KeyIndex& other) noexcept {
        slots_.swap(other.slots_);
        std::swap(mark_, other.mark_);
        std::swap(settled_, other.settled_);
        std::swap(mask_, other.mask_);
        std::swap(size_, other.size_);
    }

    /// The entry of the key; null where there is none that has the present mark. O(1). Inlined: the
    /// lookup is most of what a keyed operator does.
    [[nodiscard, gnu::always_inline]] Entry* find(const Key& key, std::uint64_t hash) const {
        const std::uint64_t salt = salt_of(hash);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const std::uint64_t pointer = slots_[at] ^ salt;  // of the entry, if the salt is equal
            if (pointer >> pointer_bits == 0) [[likely]] {
                auto* const entry = reinterpret_cast<Entry*>(pointer);
                if (same_key(key, entry->key)) [[likely]]
                    return entry;
            } else if (slots_[at] == 0) {
                return nullptr;
            }
        }
    }

    /// How an entry was marked.
    enum class Was : std::uint8_t { gone, present, settled, apart };

    /// Sets the present entries apart; with `settled_too` all. None is set apart yet. O(1).
    void set_apart(bool settled_too) noexcept {
        const std::uint64_t before = mark_;
        if (settled_ == 0) {
            mark_ = before == first_mark ? 2 * first_mark : first_mark;
        } else {
            mark_ = before ^ settled_;  // the third of those that are not 0
        }
        if (settled_too) settled_ ^= before ^ mark_;  // the last of the four
    }
    /// The entry of the key becomes present, if it is not: null, or the entry and its mark before.
    /// O(1).
    [[nodiscard]] std::pair<Entry*, Was> take_back(const Key& key, std::uint64_t hash) noexcept {
        const std::uint64_t salt = salt_of(hash);
        for (std::size_t at = hash & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
            if ((slots_[at] ^ salt) >> salt_at != 0) continue;
            if (!same_key(key, entry_at(at).key)) continue;
            return {&entry_at(at), mark(at, mark_)};
        }
        return {nullptr, Was::gone};
    }
    /// The entry becomes present. Returns its mark before; gone: it has no slot. O(1).
    Was take_back(const Entry& entry) noexcept {
        const std::size_t at = place_of(entry);
        return slots_[at] == 0 ? Was::gone : mark(at, mark_);
    }
    /// An entry that is set apart is settled from now on. False if it is not set apart. O(1).
    [[nodiscard]] bool settle(const Entry& entry) noexcept {
        const std::size_t at = place_of(entry);
        if (slots_[at] == 0 || was(at) != Was::apart) return false;
        mark(at, settled_);
        return true;
    }

    /// Adds an entry whose key has none yet. O(1) amortised: all entries are placed anew when their
    /// number passes a power of two for the first time.
    void insert(Entry& entry) {
        if (size_ + 1 > room()) grow();
        STRID_ASSERT(reinterpret_cast<std::uintptr_t>(&entry) >> pointer_bits == 0);
        place(reinterpret_cast<std::uintptr_t>(&entry) | salt_of(entry.hash), entry.hash);
        ++size_;
    }

    /// Removes an entry that has the present mark. O(1): entries behind it that it displaced move
    /// up.
    void erase(const Entry& entry) {
        const auto word = reinterpret_cast<std::uintptr_t>(&entry) | salt_of(entry.hash);
        std::size_t gap = entry.hash & mask_;
        while (slots_[gap] != word) gap = (gap + 1) & mask_;
        for (std::size_t at = (gap + 1) & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
            const std::size_t probed = (at - (entry_at(at).hash & mask_)) & mask_;
            if (probed < ((at - gap) & mask_)) continue;  // the gap is not on its probe path
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap] = 0;
        --size_;
    }

    /// Prefetches the slot that a lookup reads first.
    void prefetch(std::uint64_t hash) const noexcept { prefetch_for_read(&slots_[hash & mask_]); }
    /// The first entry on the way of a lookup that has these bits of the hash; null if none has.
    /// Nearly always it is that of the key, if there is one, set apart or not. No entry is read.
    /// O(1).
    [[nodiscard]] Entry* guess(std::uint64_t hash) const noexcept {
        const std::uint64_t salt = salt_of(hash);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            // Of an empty slot, which has no bits, the address is null.
            if ((slots_[at] ^ salt) >> salt_at == 0 || slots_[at] == 0) return address_at(at);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Bytes of the slots.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return slots_.size() * sizeof(std::uint64_t);
    }
    /// Calls `visit(entry)` for each entry, in an unspecified order. O(slots).
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t at = 0; at != slots_.size(); ++at) {
            if (slots_[at] != 0) visit(entry_at(at));
        }
    }
    /// Checks the invariant above. O(slots).
    [[nodiscard]] bool is_valid() const {
        std::size_t taken = 0;
        for (std::size_t at = 0; at != slots_.size(); ++at) {
            if (slots_[at] == 0) continue;
            ++taken;
            const Entry& entry = entry_at(at);
            const std::uint64_t salt = slots_[at] & ~pointer_mask;
            if ((salt_of(entry.hash) ^ salt) >> salt_at != 0) return false;
            for (std::size_t before = entry.hash & mask_; before != at;
                 before = (before + 1) & mask_) {
                if (slots_[before] == 0) return false;
                if (same_key(entry.key, entry_at(before).key)) return false;
            }
        }
        return taken == size_ && size_ <= room() && mark_ != 0 && mark_ != settled_;
    }

  private:
    using Slots = std::vector<std::uint64_t, memory::TableAllocator<std::uint64_t>>;

    static constexpr int pointer_bits = 48;
    static constexpr std::uint64_t pointer_mask = (std::uint64_t{1} << pointer_bits) - 1;
    static constexpr int salt_at = pointer_bits + 2;  // behind the mark
    static constexpr std::uint64_t first_mark = std::uint64_t{1} << pointer_bits;
    static constexpr std::uint64_t all_marks = 3 * first_mark;
    static_assert(sizeof(void*) == sizeof(std::uint64_t));

    /// The present mark, and bits 34 to 47 of the hash: the lower bits choose the slot, the upper
    /// ones the replica. Never 0, so that an empty slot matches no key.
    [[nodiscard]] std::uint64_t salt_of(std::uint64_t hash) const noexcept {
        constexpr int unused_bits = 16;
        return hash >> (salt_at - unused_bits) << salt_at | mark_;
    }

    /// How many slots may be taken. One in four while all slots fit a cache of the core: nearly
    /// every key is then in its own slot, and the branch predictor is right.
    [[nodiscard]] std::size_t room() const noexcept {
        constexpr std::size_t near_max = std::size_t{1} << 16;
        return slots_.size() / (slots_.size() <= near_max ? 4 : 2);
    }
    [[nodiscard]] Entry* address_at(std::size_t at) const noexcept {
        return reinterpret_cast<Entry*>(slots_[at] & pointer_mask);
    }
    [[nodiscard]] Entry& entry_at(std::size_t at) const noexcept { return *address_at(at); }

    /// The slot of the entry, or an empty one.
    [[nodiscard]] std::size_t place_of(const Entry& entry) const noexcept {
        std::size_t at = entry.hash & mask_;
        while (slots_[at] != 0 && address_at(at) != &entry) at = (at + 1) & mask_;
        return at;
    }
    [[nodiscard]] Was was(std::size_t at) const noexcept {
        const std::uint64_t mark = slots_[at] & all_marks;
        if (mark == mark_) return Was::present;
        return mark == settled_ ? Was::settled : Was::apart;
    }
    /// Returns the mark before.
    Was mark(std::size_t at, std::uint64_t mark) noexcept {
        const Was before = was(at);
        slots_[at] = (slots_[at] & ~all_marks) | mark;
        return before;
    }

    void place(std::uint64_t word, std::uint64_t hash) {
        std::size_t at = hash & mask_;
        while (slots_[at] != 0) at = (at + 1) & mask_;
        slots_[at] = word;
    }

    /// Entries move from a slot to the same one or its counterpart in the new half, or close by:
    /// the written slots lie together. The entries that are read do not, so they are prefetched.
    [[gnu::noinline]] void grow() {
        constexpr std::size_t ahead = 16;
        Slots old(2 * slots_.size());
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (std::size_t at = 0; at != old.size(); ++at) {
            prefetch_for_read(
                reinterpret_cast<const void*>(old[(at + ahead) % old.size()] & pointer_mask));
            if (old[at] == 0) continue;
            place(old[at], reinterpret_cast<const Entry*>(old[at] & pointer_mask)->hash);
        }
    }

    Slots slots_ = Slots(8);  // always a power of two
    std::uint64_t mark_ = first_mark;
    std::uint64_t settled_ = 0;
    std::size_t mask_ = slots_.size() - 1;
    std::size_t size_ = 0;
};

}  // namespace strid::operators
