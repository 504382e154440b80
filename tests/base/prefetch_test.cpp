// SPDX-License-Identifier: Apache-2.0
//
// Owning lines writes to the given bytes only, and once to every line that they fill.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/base/prefetch.hpp>

namespace strid {
namespace {

TEST(OwnLines, WritesToEveryLineAndNotBeyond) {
    constexpr std::size_t lines = 8;
    constexpr std::byte untouched{0xff};
    struct alignas(cache_line_bytes) Line {
        std::byte bytes[cache_line_bytes];
    };
    for (std::size_t begin = 0; begin < 2 * cache_line_bytes; ++begin) {
        for (std::size_t end = begin; end <= lines * cache_line_bytes; ++end) {
            std::vector<Line> memory(lines);
            std::byte* const first = memory.front().bytes;
            std::fill_n(first, lines * cache_line_bytes, untouched);
            reclaim_lines(first + begin, end - begin);
            const auto written = [](std::byte byte) { return byte != untouched; };
            ASSERT_TRUE(std::none_of(first, first + begin, written)) << begin << ' ' << end;
            ASSERT_TRUE(std::none_of(first + end, first + lines * cache_line_bytes, written))
                << begin << ' ' << end;
            for (std::size_t line = 0; line < lines; ++line) {
                const std::size_t line_begin = line * cache_line_bytes;
                if (line_begin < begin || line_begin + cache_line_bytes > end) continue;
                const std::byte* const bytes = memory[line].bytes;
                ASSERT_EQ(std::count(bytes, bytes + cache_line_bytes, untouched),
                          cache_line_bytes - 1)
                    << begin << ' ' << end << ": one byte in each line that is whole";
            }
        }
    }
}

}  // namespace
}  // namespace strid
