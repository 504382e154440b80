// SPDX-License-Identifier: Apache-2.0
//
// What is known of each live block, by its address: two levels of tables of words, one word for
// each place where a block can begin (a granule). No lock and no hashing: from its allocation to
// its release a block's words belong to the thread that has the block, and the program itself
// orders what another thread does with it.
//
// The first word of a block says all that a small block needs. One of more than kInlineSizeMax
// bytes has its size in the next word, and one whose lifetime is measured has its birth in the word
// after those: a block that has such words is long enough to cover their granules.
//
// The tables are shared mappings, so that the resident anonymous memory of the process (RssAnon)
// stays its own, and no child inherits them (MADV_DONTFORK, MADV_WIPEONFORK): it begins with empty
// ones.
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
        [[nodiscard]] std::uint64_t owner() const { return word >> kOwnerShift << kOwnerShift; }
        [[nodiscard]] std::uint64_t birth() const { return word & kBirthMask; }
    };

    /// Reserves the upper level; false if there is no room. `granule_shift`: 4 where blocks begin
    /// 32 bytes apart at least, otherwise 3. The memory of the upper level stays over fork, wiped.
    [[nodiscard]] bool reserve(unsigned granule_shift);

    /// A block began, or goes on with another size: `owner_and_birth` is what its word says beside
    /// the size. `birth_ns`: 0, or when it began. False: there is no memory to note it.
    [[nodiscard]] bool put(const void* block, std::uint64_t owner_and_birth, std::uint64_t size,
                           std::uint64_t birth_ns = 0) {
        std::uint64_t* const words = find_or_map(block);
        if (!words) [[unlikely]]
            return false;
        const std::uint64_t word = owner_and_birth & ~(kSizeMask << kBirthBits) & ~kTimedBit;
        if (size <= kInlineSizeMax && birth_ns == 0) [[likely]] {
            words[0] = word | size << kBirthBits;
            return true;
        }
        put_long(words, word, size, birth_ns);
        return true;
    }

    /// Takes what is known of `block`: it is not known afterwards.
    [[nodiscard]] Entry take(const void* block) {
        std::uint64_t* const words = find(block);
        if (!words) [[unlikely]]
            return {};
        Entry entry{.word = words[0], .size = words[0] >> kBirthBits & kSizeMask};
        words[0] = 0;
        if (entry.size > kInlineSizeMax || entry.is_timed()) [[unlikely]]
            take_long(words, entry);
        return entry;
    }

  private:
    using Leaf = std::atomic<std::uint64_t*>;
    static constexpr int kAddressBits = 47;
    static constexpr int kLeafBits = 24;  // a leaf is for 16 MiB of addresses
    static constexpr std::size_t kLeaves = std::size_t{1} << (kAddressBits - kLeafBits);

    [[nodiscard]] std::size_t word_in_leaf(std::uintptr_t address) const {
        return (address & ((std::uintptr_t{1} << kLeafBits) - 1)) >> granule_shift_;
    }

    [[nodiscard]] std::uint64_t* find(const void* block) const {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        if (address >> kAddressBits != 0) [[unlikely]]
            return nullptr;
        // Pairs with the exchange in map_leaf().
        std::uint64_t* const leaf = leaves_[address >> kLeafBits].load(std::memory_order_acquire);
        return leaf ? leaf + word_in_leaf(address) : nullptr;
    }

    [[nodiscard]] std::uint64_t* find_or_map(const void* block) {
        if (std::uint64_t* const words = find(block)) [[likely]]
            return words;
        return map_leaf(reinterpret_cast<std::uintptr_t>(block));
    }

    [[nodiscard]] std::uint64_t* map_leaf(std::uintptr_t address);
    void put_long(std::uint64_t* words, std::uint64_t word, std::uint64_t size,
                  std::uint64_t birth_ns) const;
    static void take_long(std::uint64_t* words, Entry& entry);

    Leaf* leaves_ = nullptr;
    unsigned granule_shift_ = 4;
};

}  // namespace strid::trace
