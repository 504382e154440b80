// SPDX-License-Identifier: Apache-2.0
//
// Numbers of bytes as users write them. tests/graph/runs/arguments_test.cpp has times and rates.
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/base/quantity.hpp>

namespace strid {
namespace {

TEST(ByteCounts, HaveUnitsOfPowersOf1024) {
    EXPECT_EQ(read_byte_count("4096"), 4096U);
    EXPECT_EQ(read_byte_count("64K"), 65'536U);
    EXPECT_EQ(read_byte_count("1.5M"), 1'572'864U);
    EXPECT_EQ(read_byte_count("3G"), std::uint64_t{3} << 30U);
}

TEST(ByteCounts, ThatAreNoneAreRefused) {
    for (const std::string_view text :
         {"", "0", "-1", "K", "1k", "1T", "1KB", "0.3K", "1 M", "99999999999999999999"}) {
        EXPECT_THROW((void)read_byte_count(text), GraphError) << text;
    }
}

}  // namespace
}  // namespace strid
