// SPDX-License-Identifier: Apache-2.0
#include "matching/amount.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace strid::exchange {
namespace {

TEST(Amount, APriceHasFourDecimalsAtMost) {
    EXPECT_EQ(read_price("12.5"), 125'000);
    EXPECT_EQ(read_price("0.0001"), 1);
    EXPECT_EQ(read_price("100000"), price_max);
    EXPECT_EQ(read_price("100000.0000"), price_max);
    EXPECT_EQ(read_price("00012.50"), 125'000);
    for (const char* wrong :
         {"", ".", "1.", ".5", "0", "0.0000", "-1", "+1", "1e3", "1,5", "1.00001", "100000.0001",
          "100001", "99999999999999999999", "1.5x", " 1"}) {
        EXPECT_FALSE(read_price(wrong)) << wrong;
    }
}

TEST(Amount, AQuantityIsDigits) {
    EXPECT_EQ(read_quantity("1"), 1);
    EXPECT_EQ(read_quantity("1000000"), quantity_max);
    for (const char* wrong :
         {"", "0", "-1", "+1", "1.0", "1000001", "99999999999999999999", "1 "}) {
        EXPECT_FALSE(read_quantity(wrong)) << wrong;
    }
}

TEST(Amount, TextsReadBack) {
    std::mt19937_64 random(7);
    for (int i = 0; i != 10'000; ++i) {
        const auto price = static_cast<Price>(random() % price_max) + 1;
        EXPECT_EQ(read_price(price_text(price)), price);
        const Money money =
            static_cast<Money>(random()) * static_cast<std::int64_t>(random() >> 20);
        EXPECT_EQ(read_money(money_units(money)), money);
        EXPECT_EQ(read_money(money_units(-money)), -money);
    }
    EXPECT_EQ(money_text(-125'000), "-12.5");
    EXPECT_EQ(money_text(-5), "-0.0005");
    EXPECT_EQ(money_text(0), "0");
    for (const char* wrong : {"", "-", "1.5", "--1", "1234567890123456789012345678901234567"}) {
        EXPECT_FALSE(read_money(wrong)) << wrong;
    }
}

TEST(Amount, AnAverageIsRoundedHalfUp) {
    EXPECT_EQ(average_text(0, 0), "0");
    EXPECT_EQ(average_text(30'000, 3), "1");
    EXPECT_EQ(average_text(10'001, 2), "0.5001");  // 5000.5
    EXPECT_EQ(average_text(10'000, 3), "0.3333");
    EXPECT_EQ(average_text(20'000, 3), "0.6667");
}

}  // namespace
}  // namespace strid::exchange
