// SPDX-License-Identifier: Apache-2.0
//
// Memory of a coder, kept between blocks, in huge pages where the system has them: sorting and its
// inverse jump about in megabytes, and with pages of 4 KiB most jumps miss the table of pages. Owns
// the memory, whose elements have no value until they are written. One thread.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include <sys/mman.h>

namespace strid::compress {

template <class T>
    requires std::is_trivial_v<T>
class HugeArray {
  public:
    /// `count` elements; the old ones are lost where there were fewer. Throws std::bad_alloc.
    T* room(std::size_t count) {
        if (count <= count_) return memory_.get();
        constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
        const std::size_t wanted = count * sizeof(T);
        const std::size_t unit = wanted < huge_page_bytes / 2 ? 64 : huge_page_bytes;
        const std::size_t bytes = (wanted + unit - 1) / unit * unit;
        memory_.reset();
        count_ = 0;
        memory_.reset(static_cast<T*>(std::aligned_alloc(unit, bytes)));
        if (!memory_) throw std::bad_alloc();
        if (unit == huge_page_bytes) ::madvise(memory_.get(), bytes, MADV_HUGEPAGE);
        count_ = bytes / sizeof(T);
        return memory_.get();
    }

  private:
    struct Free {
        void operator()(T* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<T, Free> memory_;
    std::size_t count_ = 0;
};

}  // namespace strid::compress
