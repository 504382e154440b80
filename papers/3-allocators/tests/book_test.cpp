// SPDX-License-Identifier: Apache-2.0
//
// The order book: single cases worked out by hand from the rules, and its invariants under random
// commands. The oracle (data_test.py) compares all its answers with the rules.
#include "matching/book.hpp"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace strid::exchange {
namespace {

class BookTest : public testing::Test {
  protected:
    Outcome order(const std::string& user, const std::string& id, char side, int quantity,
                  const std::string& price, const std::string& lifetime = {}) {
        return book_.apply({.kind = CommandKind::new_order,
                            .number = ++number_,
                            .user = user,
                            .symbol = "S",
                            .client_id = id,
                            .side = std::string(1, side),
                            .quantity = std::to_string(quantity),
                            .order_type = price.empty() ? "1" : "2",
                            .price = price,
                            .time_in_force = lifetime});
    }
    Outcome cancel(const std::string& user, const std::string& id, const std::string& original) {
        return book_.apply({.kind = CommandKind::cancel,
                            .number = ++number_,
                            .user = user,
                            .symbol = "S",
                            .client_id = id,
                            .original_id = original});
    }
    Outcome replace(const std::string& user, const std::string& id, const std::string& original,
                    int quantity, const std::string& price) {
        return book_.apply({.kind = CommandKind::replace,
                            .number = ++number_,
                            .user = user,
                            .symbol = "S",
                            .client_id = id,
                            .original_id = original,
                            .quantity = std::to_string(quantity),
                            .price = price});
    }
    /// The sellers, quantities and prices, in the order of the trades.
    static std::string sales(const Outcome& outcome) {
        std::string text;
        for (const Trade& trade : outcome.trades) {
            text += trade.seller + " " + std::to_string(trade.quantity) + " at " +
                    price_text(trade.price) + "; ";
        }
        return text;
    }
    static const ExecutionReport& execution(const Outcome& outcome, std::size_t index) {
        return std::get<ExecutionReport>(outcome.reports.at(index).content);
    }

    Book book_;
    CommandNumber number_ = 0;
};

TEST_F(BookTest, BestPriceFirstThenTime) {
    order("a", "1", '2', 10, "12");
    order("b", "1", '2', 10, "11");
    order("c", "1", '2', 10, "11");
    EXPECT_EQ(sales(order("d", "1", '1', 25, "12")), "b 10 at 11; c 10 at 11; a 5 at 12; ");
    EXPECT_EQ(book_.open_orders(), 1U);
    EXPECT_TRUE(book_.is_valid());
}

TEST_F(BookTest, TheWaitingOrderMakesThePrice) {
    order("a", "1", '1', 10, "12");
    EXPECT_EQ(sales(order("b", "1", '2', 4, "10")), "b 4 at 12; ");
    EXPECT_EQ(sales(order("b", "2", '2', 1, "12.0001")), "");
}

TEST_F(BookTest, ReportsOfATradeTellTheIncomingOrderFirst) {
    order("a", "1", '2', 10, "12");
    const Outcome outcome = order("b", "1", '1', 4, "12");
    ASSERT_EQ(outcome.reports.size(), 3U);
    EXPECT_EQ(execution(outcome, 0).type, ExecutionType::accepted);
    EXPECT_EQ(outcome.reports[1].user, "b");
    EXPECT_EQ(execution(outcome, 1).order.status, OrderStatus::filled);
    EXPECT_EQ(outcome.reports[2].user, "a");
    EXPECT_EQ(execution(outcome, 2).order.status, OrderStatus::partly_filled);
    EXPECT_EQ(execution(outcome, 2).order.open_quantity(), 6);
}

TEST_F(BookTest, FillOrKillTakesAllOrNothing) {
    order("a", "1", '2', 10, "12");
    order("a", "2", '2', 10, "13");
    const Outcome killed = order("b", "1", '1', 11, "12", "4");
    EXPECT_EQ(sales(killed), "");
    EXPECT_EQ(execution(killed, 1).type, ExecutionType::cancelled);
    EXPECT_EQ(sales(order("b", "2", '1', 20, "13", "4")), "a 10 at 12; a 10 at 13; ");
}

TEST_F(BookTest, WhatIsNotOfTheDayDoesNotWait) {
    order("a", "1", '2', 10, "12");
    EXPECT_EQ(execution(order("b", "1", '1', 11, "12", "3"), 3).type, ExecutionType::cancelled);
    EXPECT_EQ(execution(order("b", "2", '1', 11, ""), 1).type, ExecutionType::cancelled);
    EXPECT_EQ(book_.open_orders(), 0U);
}

TEST_F(BookTest, AReplacementKeepsItsPlaceOnlyWhereItGetsSmaller) {
    order("a", "1", '2', 10, "12");
    order("b", "1", '2', 10, "12");
    replace("a", "2", "1", 5, "12");
    EXPECT_EQ(sales(order("c", "1", '1', 2, "12")), "a 2 at 12; ");
    replace("a", "3", "2", 6, "12");
    EXPECT_EQ(sales(order("c", "2", '1', 11, "12")), "b 10 at 12; a 1 at 12; ");
}

TEST_F(BookTest, AReplacementMayTradeAtOnce) {
    order("a", "1", '2', 10, "12");
    order("b", "1", '1', 10, "11");
    const Outcome outcome = replace("b", "2", "1", 4, "12");
    EXPECT_EQ(execution(outcome, 0).type, ExecutionType::replaced);
    EXPECT_EQ(sales(outcome), "a 4 at 12; ");
    EXPECT_EQ(outcome.retired_ids, std::vector<std::string>{"1"});
}

TEST_F(BookTest, RefusalsSayWhy) {
    order("a", "1", '2', 10, "12");
    const auto reason = [](const Outcome& outcome) {
        return std::get<CancelRejected>(outcome.reports.at(0).content).reason;
    };
    EXPECT_EQ(std::get<OrderRejected>(order("a", "1", '1', 1, "1").reports.at(0).content).reason,
              RejectReason::duplicate);
    EXPECT_EQ(reason(cancel("b", "2", "1")), CancelRejectReason::unknown_order);
    EXPECT_EQ(reason(replace("a", "1", "1", 1, "1")), CancelRejectReason::duplicate);
    replace("a", "2", "1", 10, "12");
    EXPECT_EQ(reason(cancel("a", "3", "1")), CancelRejectReason::unknown_order);
    order("b", "4", '1', 3, "12");
    EXPECT_EQ(reason(replace("a", "5", "2", 3, "12")), CancelRejectReason::other);
    cancel("a", "6", "2");
    EXPECT_EQ(reason(cancel("a", "7", "2")), CancelRejectReason::too_late);
}

// A journal has the orders; a book that is restored from them goes on as the first one.
TEST_F(BookTest, LawsHoldAndARestoredBookGoesOnAlike) {
    std::mt19937 random(11);
    const auto below = [&random](unsigned end) { return static_cast<int>(random() % end); };
    std::map<OrderId, Order> kept;
    std::vector<std::pair<std::string, std::string>> retired;
    std::map<std::string, std::int64_t> shares;
    for (int i = 0; i != 4'000; ++i) {
        const std::string user(1, static_cast<char>('a' + below(3)));
        const std::string known = std::to_string(i - below(40));
        const std::string price = std::to_string(100 + below(9));
        Outcome outcome;
        switch (below(6)) {
            case 0:
                outcome = cancel(user, "c" + std::to_string(i), known);
                break;
            case 1:
                outcome = replace(user, std::to_string(i), known, 1 + below(60), price);
                break;
            default:
                outcome = order(user, std::to_string(i), below(2) == 0 ? '1' : '2', 1 + below(50),
                                below(20) == 0 ? "" : price, below(5) == 0 ? "3" : "0");
        }
        for (const Order& changed : outcome.orders) kept[changed.id] = changed;
        for (const std::string& id : outcome.retired_ids) retired.emplace_back(user, id);
        for (const Trade& trade : outcome.trades) {
            shares[trade.buyer] += trade.quantity;
            shares[trade.seller] -= trade.quantity;
        }
        if (i % 50 != 0) continue;
        ASSERT_TRUE(book_.is_valid()) << i;
        Book restored;
        std::map<CommandNumber, const Order*> by_place;
        for (const auto& [id, one] : kept) by_place[one.queued_at] = &one;
        for (const auto& [place, one] : by_place) restored.restore(*one);
        for (const auto& [owner, id] : retired) restored.restore_retired(owner, id);
        ASSERT_TRUE(restored.is_valid()) << i;
        EXPECT_EQ(restored.bids().view(0), book_.bids().view(0));
        EXPECT_EQ(restored.offers().view(0), book_.offers().view(0));
        book_ = std::move(restored);
    }
    std::int64_t sum = 0;
    for (const auto& [user, position] : shares) sum += position;
    EXPECT_EQ(sum, 0);
    EXPECT_GT(shares.size(), 2U);
}

}  // namespace
}  // namespace strid::exchange
