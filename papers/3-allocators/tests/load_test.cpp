// SPDX-License-Identifier: Apache-2.0
//
// The load generators: the same seed gives the same requests, a day has its busy hours, and the
// checks of a run find each kind of fault.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <load/account.hpp>
#include <load/workload.hpp>

namespace strid::exchange::load {
namespace {

using fix::Message;
using fix::Tag;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Workload, PairsBuyAndSellTheSame) {
    Market market(5);
    Trader buyer(Kind::w1, 3, 4, market);
    Trader seller(Kind::w1, 3, 5, market);
    Trader again(Kind::w1, 3, 4, market);
    Trader other(Kind::w1, 4, 4, market);
    bool differs = false;
    for (int n = 0; n < 200; ++n) {
        const Request buy = buyer.next();
        const Request sell = seller.next();
        const Request same = again.next();
        const Request another = other.next();
        EXPECT_EQ(buy.side, '1');
        EXPECT_EQ(sell.side, '2');
        for (const Request* one : {&sell, &same}) {
            EXPECT_EQ(one->symbol, buy.symbol);
            EXPECT_EQ(one->quantity, buy.quantity);
            EXPECT_EQ(one->price_cents, buy.price_cents);
        }
        differs = differs || another.symbol != buy.symbol || another.quantity != buy.quantity;
    }
    EXPECT_TRUE(differs);
}

TEST(Workload, ChangesNameOrdersThatAreOpen) {
    Market market(2);
    Trader trader(Kind::w2, 1, 0, market);
    std::vector<std::string> open;
    int changes = 0;
    for (int n = 0; n < 2000; ++n) {
        const Request request = trader.next();
        const std::string id = "o" + std::to_string(n);
        if (request.type == 'D') {
            EXPECT_TRUE(request.original.empty());
        } else {
            const auto found = std::find(open.begin(), open.end(), request.original);
            ASSERT_NE(found, open.end());
            open.erase(found);
            ++changes;
        }
        if (request.type != 'F' && request.price_cents != 0) {
            trader.opened(id, request);
            open.push_back(id);
        }
        if (open.size() > 3 && n % 7 == 0) {
            trader.closed(open.front());
            open.erase(open.begin());
        }
    }
    EXPECT_GT(changes, 400);
    EXPECT_LT(changes, 1200);
}

TEST(Workload, TheDayIsBusyAtItsEnds) {
    const auto times = arrivals_ns(20'000, 10, 1);
    ASSERT_EQ(times.size(), 20'000U);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_GE(times.front(), 0);
    EXPECT_LE(times.back(), 10'000'000'000);
    const auto between = [&](double begin, double end) {
        return std::count_if(times.begin(), times.end(), [&](std::int64_t time) {
            return static_cast<double>(time) >= begin * 1e9 &&
                   static_cast<double>(time) < end * 1e9;
        });
    };
    // Of 1 + 3 exp(-t/0.08) + 2 exp(-(1-t)/0.08), whose integral over the day is 1.4: 19.4 % in
    // the first tenth, 7.2 % in the middle, 15.3 % in the last.
    EXPECT_NEAR(static_cast<double>(between(0, 1)) / 20'000, 0.194, 0.01);
    EXPECT_NEAR(static_cast<double>(between(4.5, 5.5)) / 20'000, 0.072, 0.008);
    EXPECT_NEAR(static_cast<double>(between(9, 10)) / 20'000, 0.153, 0.01);
}

class AccountTest : public testing::Test {
  protected:
    AccountTest() {
        for (const auto& [id, type, side] :
             {std::tuple{"b", 'D', '1'}, {"s", 'D', '2'}, {"c", 'F', '1'}}) {
            Request request;
            request.type = type;
            request.side = side;
            request.quantity = 100;
            account_.sent(id, {request, 5, 0});
        }
    }
    void give(const char* id, const char* type, const char* execution) {
        (void)account_.take(report(id, type, execution), 10);
    }
    static Message report(const char* id, const char* type, const char* execution) {
        return Message("8")
            .set(Tag::cl_ord_id, id)
            .set(Tag::exec_type, type)
            .set(Tag::exec_id, execution);
    }
    void trade(const char* id, const char* side, const char* execution, int quantity, int sum,
               const char* price = "50.25") {
        (void)account_.take(report(id, "F", execution)
                                .set(Tag::order_id, id)
                                .set(Tag::symbol, "A")
                                .set(Tag::side, side)
                                .set(Tag::last_qty, quantity)
                                .set(Tag::last_px, price)
                                .set(Tag::cum_qty, sum)
                                .set(Tag::leaves_qty, 100 - sum),
                            10);
    }
    /// All that should come.
    void answer() {
        give("b", "0", "e1");
        give("s", "0", "e2");
        trade("b", "1", "e3", 60, 60);
        trade("s", "2", "e4", 60, 60);
        give("c", "4", "e5");
    }

    Account account_{{"A"}};
};

TEST_F(AccountTest, AllIsWell) {
    answer();
    EXPECT_THAT(account_.faults(), IsEmpty());
    EXPECT_TRUE(account_.is_balanced());
    EXPECT_EQ(account_.answered(), 3U);
    EXPECT_EQ(account_.trades(), 2U);
    EXPECT_THAT(account_.response_ns(), ElementsAre(5, 5, 5));
}

TEST_F(AccountTest, ARequestWithoutAnAnswer) {
    EXPECT_THAT(account_.faults(), ElementsAre("3 requests have no answer"));
}

TEST_F(AccountTest, ARequestThatIsAnsweredTwice) {
    answer();
    give("s", "8", "e6");
    EXPECT_THAT(account_.faults(), ElementsAre("'s' was answered 2 times"));
}

TEST_F(AccountTest, AReportThatComesTwice) {
    answer();
    trade("b", "1", "e3", 20, 80);
    trade("s", "2", "e7", 20, 80);
    EXPECT_THAT(account_.faults(), ElementsAre("report e3 came twice"));
}

TEST_F(AccountTest, AReportOfAnotherOrder) {
    answer();
    give("x", "0", "e6");
    EXPECT_THAT(account_.faults(), ElementsAre(HasSubstr("'x', which was not asked for")));
}

TEST_F(AccountTest, TradesThatDoNotAddUp) {
    answer();
    trade("b", "1", "e6", 10, 75);
    trade("s", "2", "e7", 10, 70);
    EXPECT_THAT(account_.faults(),
                ElementsAre("the trades of order b add up to 70, but CumQty is 75"));
}

TEST_F(AccountTest, ATradeWithoutItsOtherSide) {
    answer();
    trade("b", "1", "e6", 10, 70);
    EXPECT_FALSE(account_.is_balanced());
    EXPECT_THAT(account_.faults(), ElementsAre(HasSubstr("of A 70 were bought and 60 sold")));
}

TEST_F(AccountTest, MoneyThatDiffers) {
    answer();
    trade("b", "1", "e6", 10, 70, "50.2501");
    trade("s", "2", "e7", 10, 70, "50.25");
    EXPECT_FALSE(account_.is_balanced());
    EXPECT_EQ(account_.faults().size(), 1U);
}

}  // namespace
}  // namespace strid::exchange::load
