// SPDX-License-Identifier: Apache-2.0
//
// The record of each live block, by its address: a word for each place where a block can begin (a
// granule), found through one table of pointers to groups of words. No lock and no hashing: from
// its allocation to its release a block's words belong to the thread that has the block, and the
// program itself orders what another thread does with it.
//
// The first word of a block says all that a small block needs. One of more than kInlineSizeMax
// bytes has its size in the next word, and one whose lifetime is measured has its birth in the word
// after those: a block that has such words is long enough to cover their granules.
//
// No child inherits the tables (MADV_DONTFORK, MADV_WIPEONFORK): it begins with empty ones. Beside
// a heap of small blocks they take half of its memory (as much, where blocks begin 8 bytes apart).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strid::trace {

// A word, from the top: slot (12 bits, never 0), generation of the slot (6), whether the birth's
// time is known (1), size (11), the slot's count of births when the block began (34).
inline constexpr int kSlotBits = 12;
inline constexpr int kGenerationBits = 6;
inline constexpr int kSizeBits = 11;
inline constexpr int kBirthBits = 34;
static_assert(kSlotBits + kGenerationBits + 1 + kSizeBits + kBirthBits == 64);

inline constexpr std::uint64_t kBirthMask = (std::uint64_t{1} << kBirthBits) - 1;
inline constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << kSizeBits) - 1;
inline constexpr std::uint64_t kInlineSizeMax = kSizeMask - 1;
inline constexpr std::uint64_t kTimedBit = std::uint64_t{1} << (kBirthBits + kSizeBits);
inline constexpr int kOwnerShift = kBirthBits + kSizeBits + 1;

[[nodiscard]] constexpr std::uint64_t owner_in(std::uint64_t word) {
    return word >> kOwnerShift << kOwnerShift;
}
[[nodiscard]] constexpr std::uint64_t birth_in(std::uint64_t word) {
    return word & kBirthMask;
}
[[nodiscard]] constexpr std::uint64_t size_in(std::uint64_t word) {
    return word >> kBirthBits & kSizeMask;
}
/// Whether the word says all of its block.
[[nodiscard]] constexpr bool is_whole(std::uint64_t word) {
    return (word & kTimedBit) == 0 && size_in(word) <= kInlineSizeMax;
}

/// The upper bits of the words of one thread.
[[nodiscard]] constexpr std::uint64_t owner_of(std::uint32_t slot, std::uint32_t generation) {
    const std::uint64_t round = generation & ((1U << kGenerationBits) - 1);
    return (std::uint64_t{slot} << kGenerationBits | round) << kOwnerShift;
}

class SideTable {
  public:
    /// Of one block, as the table held it.
    struct Entry {
        std::uint64_t word = 0;  ///< 0: the block is not known
        std::uint64_t size = 0;
        std::uint64_t birth_ns = 0;  ///< if is_timed()

        [[nodiscard]] bool is_timed() const { return (word & kTimedBit) != 0; }
        [[nodiscard]] std::uint64_t owner_and_birth() const {
            return word & ~(kSizeMask << kBirthBits) & ~kTimedBit;
        }
    };

    /// Reserves addresses for the pointers (4 GiB, of which a page is used for each 128 MiB of
    /// heap); false, with errno, if there is no room. `granule_shift`: 4 where blocks begin 32
    /// bytes apart at least, otherwise 3. The pointers stay over fork, wiped.
    [[nodiscard]] bool reserve(unsigned granule_shift);

    /// A block began, or goes on with another size: `owner_and_birth` is what its word says beside
    /// size and time. `birth_ns`: 0, or when it began. False: there is no memory to note it.
    [[nodiscard]] bool put(const void* block, std::uint64_t owner_and_birth, std::uint64_t size,
                           std::uint64_t birth_ns = 0) {
        std::uint64_t* const words = find_or_map(block, size);
        if (!words) [[unlikely]]
            return false;
        if (size <= kInlineSizeMax && birth_ns == 0) [[likely]] {
            words[0] = owner_and_birth | size << kBirthBits;
        } else {
            put_long(words, owner_and_birth, size, birth_ns);
        }
        return true;
    }

    /// Where the first word of `block` is; null: nothing was noted near to it.
    [[nodiscard]] std::uint64_t* find(const void* block) const {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        if (address >> kAddressBits != 0) [[unlikely]]
            return nullptr;
        // Pairs with the store in map_group().
        std::uint64_t* const group = groups_[address >> kGroupBits].load(std::memory_order_acquire);
        return group ? group + word_in(kGroupBits, address) : nullptr;
    }

    /// Takes what is known of a block by its words: it is not known afterwards.
    [[nodiscard]] static Entry take(std::uint64_t* words);

  private:
    using Words = std::atomic<std::uint64_t*>;
    static constexpr int kAddressBits = 47;
    /// The words of so many addresses are mapped at once,
    static constexpr int kRegionBits = 24;
    /// and those of so many get their memory at once, where small blocks lie.
    static constexpr int kGroupBits = 18;
    /// Blocks of this size have few neighbours: a page of words is enough.
    static constexpr std::uint64_t kSparseFrom = std::uint64_t{16} << 10;
    static constexpr std::size_t kRegions = std::size_t{1} << (kAddressBits - kRegionBits);
    static constexpr std::size_t kGroups = std::size_t{1} << (kAddressBits - kGroupBits);

    [[nodiscard]] std::size_t word_in(int bits, std::uintptr_t address) const {
        return (address & ((std::uintptr_t{1} << bits) - 1)) >> granule_shift_;
    }

    [[nodiscard]] std::uint64_t* find_or_map(const void* block, std::uint64_t size) {
        if (std::uint64_t* const words = find(block)) [[likely]]
            return words;
        return map_group(reinterpret_cast<std::uintptr_t>(block), size);
    }

    [[nodiscard]] std::uint64_t* map_group(std::uintptr_t address, std::uint64_t size);
    [[nodiscard]] std::uint64_t* map_region(std::uintptr_t address);
    void put_long(std::uint64_t* words, std::uint64_t word, std::uint64_t size,
                  std::uint64_t birth_ns) const;

    Words* groups_ = nullptr;
    Words* regions_ = nullptr;
    unsigned granule_shift_ = 4;
};

}  // namespace strid::trace
