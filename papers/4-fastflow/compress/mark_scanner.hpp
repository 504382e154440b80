// SPDX-License-Identifier: Apache-2.0
//
// Finds where blocks and streams of a bzip2 file may begin and end: the two numbers of 48 bits that
// stand before each block and before the end of each stream, at any bit. They may also stand inside
// a block by chance (once in 2^47 bits) or by malice: a mark is a candidate.
//
// One look at two bytes of four is enough: wherever a mark begins, it covers two whole bytes of
// which the first has a number that is divisible by four. A table shows which pairs can be part of
// a mark (one in a thousand).
//
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

namespace strid::compress {

struct Mark {
    std::uint64_t bit = 0;  ///< of the file
    bool ends_stream = false;

    bool operator==(const Mark&) const = default;
};

class MarkScanner {
  public:
    /// Bytes behind the last one scanned that a call needs to see again.
    static constexpr std::uint64_t overlap_bytes = 16;

    /// `bytes` stand in the file from byte `base` on; they begin `overlap_bytes` before the end of
    /// those of the last call at the latest. Adds the marks that end in them and were not found
    /// before, in their order; `last`: nothing follows.
    void scan(std::string_view bytes, std::uint64_t base, bool last, std::deque<Mark>& marks);

  private:
    void look(std::string_view bytes, std::uint64_t base, std::size_t pair,
              std::deque<Mark>& marks) const;

    std::uint64_t next_pair_ = 0;  // the byte of the file to be looked at next
};

}  // namespace strid::compress
