// SPDX-License-Identifier: Apache-2.0
//
// The values of records that another field chooses, rates, and lists: against a stable sort of the
// records, in parts of any size and in windows that slide.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/window/aggregates/choice.hpp>
#include <strid/window/aggregates/in_order.hpp>
#include <strid/window/aggregates/lists.hpp>
#include <strid/window/aggregates/rate.hpp>
#include <strid/window/aggregates/together.hpp>

namespace strid::window {
namespace {

using namespace std::chrono_literals;

struct Bid {
    std::int64_t at;
    double price;
    std::string_view bidder;
};
const std::vector<std::string> bidders = {"ann", "bob", "carl with a name that owns memory",
                                          "dora"};

/// In panes of 10, which do not overlap in time but have it in any order and often the same.
std::vector<Bid> random_bids(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random{seed};
    std::vector<Bid> bids;
    for (std::size_t i = 0; i != count; ++i) {
        bids.push_back({static_cast<std::int64_t>(i / 10 * 10 + random() % 10),
                        static_cast<double>(random() % 7), bidders[random() % bidders.size()]});
    }
    return bids;
}

/// Of every window of up to 5 panes: what the aggregate says and what `oracle(bids)` does.
template <class A, class Oracle>
void expect_in_windows(const A& aggregate, Oracle&& oracle) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const std::vector<Bid> bids = random_bids(seed, 400);
        InOrder<A> window(aggregate);
        for (std::size_t pane = 0; pane != 40; ++pane) {
            auto state = aggregate.identity();
            for (std::size_t i = 0; i != 10; ++i) add_record(aggregate, state, bids[pane * 10 + i]);
            window.insert(std::move(state));
            if (window.size() > 5) window.evict();
            const std::vector<Bid> in(
                bids.begin() + static_cast<std::ptrdiff_t>((pane < 4 ? 0 : pane - 4) * 10),
                bids.begin() + static_cast<std::ptrdiff_t>(pane * 10 + 10));
            ASSERT_EQ(aggregate.lower(window.query()), oracle(in)) << "seed " << seed;
        }
    }
}

template <class Key>
std::vector<Bid> sorted(std::vector<Bid> bids, Key key) {
    std::stable_sort(bids.begin(), bids.end(),
                     [&](const Bid& a, const Bid& b) { return key(a) < key(b); });
    return bids;
}
constexpr auto time_of = [](const Bid& bid) { return bid.at; };
constexpr auto price_of = [](const Bid& bid) { return bid.price; };
constexpr auto minus_price_of = [](const Bid& bid) { return -bid.price; };

TEST(Choice, IsThatOfAStableSort) {
    expect_in_windows(first(field<&Bid::bidder>, field<&Bid::at>), [](const auto& bids) {
        return std::string(sorted(bids, time_of).front().bidder);
    });
    expect_in_windows(last(field<&Bid::price>, field<&Bid::at>),
                      [](const auto& bids) { return sorted(bids, time_of).back().price; });
    expect_in_windows(min_by(field<&Bid::bidder>, field<&Bid::price>), [](const auto& bids) {
        return std::string(sorted(bids, price_of).front().bidder);
    });
    expect_in_windows(max_by<Bid>(time_of, price_of),
                      [](const auto& bids) { return sorted(bids, minus_price_of).front().at; });
}

TEST(Choice, PassesOverNotANumber) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto cheapest = min_by(field<&Bid::at>, field<&Bid::price>);
    auto state = cheapest.identity();
    for (const Bid& bid : {Bid{1, nan, "a"}, Bid{2, 5, "b"}, Bid{3, nan, "c"}}) {
        add_record(cheapest, state, bid);
    }
    EXPECT_EQ(cheapest.lower(state), 2);
    const auto price = first(field<&Bid::price>, field<&Bid::at>);
    EXPECT_TRUE(std::isnan(price.lower(price.identity())));
}

TEST(Lists, AreTheBeginningOfAStableSort) {
    expect_in_windows(top(7, field<&Bid::price>), [](const auto& bids) {
        std::vector<double> prices;
        for (const Bid& bid : sorted(bids, minus_price_of)) prices.push_back(bid.price);
        prices.resize(7);
        return prices;
    });
    expect_in_windows(bottom(2, field<&Bid::bidder>), [](const auto& bids) {
        std::vector<std::string> names;
        for (const Bid& bid : bids) names.emplace_back(bid.bidder);
        std::sort(names.begin(), names.end());
        names.resize(2);
        return names;
    });
    for (const std::size_t length : {0U, 1U, 13U, 1000U}) {
        expect_in_windows(collect(length, field<&Bid::bidder>, field<&Bid::at>),
                          [length](const auto& bids) {
                              CollectedValues<std::string> all;
                              for (const Bid& bid : sorted(bids, time_of)) {
                                  if (all.values.size() < length) {
                                      all.values.emplace_back(bid.bidder);
                                  } else {
                                      ++all.left_out;
                                  }
                              }
                              return all;
                          });
    }
}

TEST(Rate, IsPerSecondOfTheWindow) {
    const auto all = together(rate(), rate(field<&Bid::price>), count());
    auto state = all.identity();
    for (const Bid& bid : {Bid{0, 3, "a"}, Bid{1, 4, "b"}, Bid{2, 0.5, "c"}}) {
        add_record(all, state, bid);
    }
    const TimeBounds bounds{EventTime{0s}, EventTime{1500ms}};
    const auto value = value_of(all, 0, bounds, state);
    EXPECT_EQ(value, (std::tuple(2.0, 5.0, std::uint64_t{3})));
}

}  // namespace
}  // namespace strid::window
