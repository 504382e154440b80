// SPDX-License-Identifier: Apache-2.0
#include "side_table.hpp"

#include <cerrno>

#include <sys/mman.h>

namespace strid::trace {

namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

/// Zeros that take memory where they are written, and that a child finds zero again.
void* reserve_pointers(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (madvise(memory, bytes, MADV_WIPEONFORK) != 0) {
        munmap(memory, bytes);
        return nullptr;
    }
    madvise(memory, bytes, MADV_DONTDUMP);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

}  // namespace

bool SideTable::reserve(unsigned granule_shift) {
    granule_shift_ = granule_shift;
    if (!groups_) groups_ = static_cast<Words*>(reserve_pointers(kGroups * sizeof(Words)));
    if (!regions_) regions_ = static_cast<Words*>(reserve_pointers(kRegions * sizeof(Words)));
    return groups_ && regions_;
}

std::uint64_t* SideTable::map_region(std::uintptr_t address) {
    Words& region = regions_[address >> kRegionBits];
    // Pairs with the exchange below.
    if (std::uint64_t* const words = region.load(std::memory_order_acquire)) return words;
    // The words of a block in the last granule lie behind the region's own.
    const std::size_t bytes =
        (sizeof(std::uint64_t) << (kRegionBits - granule_shift_)) + 2 * sizeof(std::uint64_t);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, bytes, MADV_DONTFORK);
    madvise(memory, bytes, MADV_DONTDUMP);
    // One word for much memory would take a huge page.
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    auto* words = static_cast<std::uint64_t*>(memory);
    std::uint64_t* expected = nullptr;
    // Pairs with the load above; a signal handler or another thread may have been first.
    if (!region.compare_exchange_strong(expected, words, std::memory_order_acq_rel)) {
        munmap(memory, bytes);
        words = expected;
    }
    return words;
}

std::uint64_t* SideTable::map_group(std::uintptr_t address, std::uint64_t size) {
    if (address >> kAddressBits != 0) return nullptr;
    const int saved_errno = errno;
    std::uint64_t* const region = map_region(address);
    if (region) {
        const std::uintptr_t begin = address >> kGroupBits << kGroupBits;
        std::uint64_t* const group = region + word_in(kRegionBits, begin);
        if (size < kSparseFrom) {
            // Where the kernel does not know it, the pages come one by one.
            madvise(group, sizeof(std::uint64_t) << (kGroupBits - granule_shift_),
                    MADV_POPULATE_WRITE);
        }
        // Pairs with the load in find().
        groups_[address >> kGroupBits].store(group, std::memory_order_release);
    }
    errno = saved_errno;
    return region ? region + word_in(kRegionBits, address) : nullptr;
}

void SideTable::put_long(std::uint64_t* words, std::uint64_t word, std::uint64_t size,
                         std::uint64_t birth_ns) const {
    std::size_t next = 1;
    if (size > kInlineSizeMax) words[next++] = size;
    // A block of 8 bytes may have but one granule of 8.
    if (birth_ns != 0 && (granule_shift_ == 4 || size > 8)) {
        words[next] = birth_ns;
        word |= kTimedBit;
    }
    words[0] = word | (size > kInlineSizeMax ? kSizeMask : size) << kBirthBits;
}

SideTable::Entry SideTable::take(std::uint64_t* words) {
    if (!words) return {};
    Entry entry{.word = words[0], .size = size_in(words[0])};
    words[0] = 0;
    std::size_t next = 1;
    // Bytes that stay behind a block's first word would be read as the first word of a later block.
    if (entry.size > kInlineSizeMax) {
        entry.size = words[next];
        words[next++] = 0;
    }
    if (entry.is_timed()) {
        entry.birth_ns = words[next];
        words[next] = 0;
    }
    return entry;
}

}  // namespace strid::trace
