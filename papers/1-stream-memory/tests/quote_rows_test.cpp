// SPDX-License-Identifier: Apache-2.0
//
// The state of the check of quotes is complete: another one goes on with it.
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <trading/quote_rows.hpp>

namespace strid::apps::trading {
namespace {

TEST(QuoteCheck, GoesOnFromTheStateOfAnother) {
    const auto market = std::make_shared<Market>(itch_decimals, 1);
    std::string fault;
    Quote quote{};
    QuoteCheck before(market);
    ASSERT_TRUE(before({"A", "10", "1", "2", "3", "4"}, quote, fault));
    ASSERT_TRUE(before({"B", "20", "1", "2", "3", "4"}, quote, fault));

    QuoteCheck after(market);
    after.state() = before.state();
    ASSERT_TRUE(after({"B", "20", "1", "2", "3", "4"}, quote, fault)) << fault;
    EXPECT_EQ(quote.symbol, 1U);
    EXPECT_EQ(quote.number, 2U);
    ASSERT_TRUE(after({"C", "5", "1", "2", "3", "4"}, quote, fault)) << fault;
    EXPECT_EQ(quote.symbol, 2U);
    EXPECT_FALSE(after({"A", "9", "1", "2", "3", "4"}, quote, fault));
    EXPECT_EQ(fault, "the time '9' lies before that of the quote of A before it");
}

}  // namespace
}  // namespace strid::apps::trading
