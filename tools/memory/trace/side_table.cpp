// SPDX-License-Identifier: Apache-2.0
#include "side_table.hpp"

#include <cerrno>

#include <sys/mman.h>

namespace strid::trace {

bool SideTable::reserve(unsigned granule_shift) {
    granule_shift_ = granule_shift;
    if (leaves_) return true;
    const std::size_t bytes = kLeaves * sizeof(Leaf);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    if (madvise(memory, bytes, MADV_WIPEONFORK) != 0) {
        munmap(memory, bytes);
        return false;
    }
    madvise(memory, bytes, MADV_DONTDUMP);
    leaves_ = static_cast<Leaf*>(memory);
    return true;
}

std::uint64_t* SideTable::map_leaf(std::uintptr_t address) {
    if (address >> kAddressBits != 0) return nullptr;
    const int saved_errno = errno;
    // The words of a block in the last granule lie behind the leaf's own.
    const std::size_t words = (std::size_t{1} << (kLeafBits - granule_shift_)) + 2;
    void* const memory = mmap(nullptr, words * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    std::uint64_t* leaf = nullptr;
    if (memory != MAP_FAILED) {
        madvise(memory, words * sizeof(std::uint64_t), MADV_DONTFORK);
        madvise(memory, words * sizeof(std::uint64_t), MADV_DONTDUMP);
        std::uint64_t* expected = nullptr;
        leaf = static_cast<std::uint64_t*>(memory);
        // Pairs with the load in find(); a signal handler or another thread may have been first.
        if (!leaves_[address >> kLeafBits].compare_exchange_strong(expected, leaf,
                                                                   std::memory_order_acq_rel)) {
            munmap(memory, words * sizeof(std::uint64_t));
            leaf = expected;
        }
    }
    errno = saved_errno;
    return leaf ? leaf + word_in_leaf(address) : nullptr;
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

void SideTable::take_long(std::uint64_t* words, Entry& entry) {
    std::size_t next = 1;
    // What stays behind a block's first word would be read as the first word of a later block.
    if (entry.size > kInlineSizeMax) {
        entry.size = words[next];
        words[next++] = 0;
    }
    if (entry.is_timed()) {
        entry.birth_ns = words[next];
        words[next] = 0;
    }
}

}  // namespace strid::trace
