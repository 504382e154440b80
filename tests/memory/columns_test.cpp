// SPDX-License-Identifier: Apache-2.0
//
// Columns against a vector of records: random operations, the spans of columns, algorithms over
// rows, members that cannot be copied, and an allocation that fails.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/columns.hpp>

namespace strid::memory {
namespace {

struct Quote {
    std::uint32_t symbol;
    double price;
    bool is_bid;
    std::string venue;
    std::array<char, 5> flags;
    double volume;  // of the type of price

    bool operator==(const Quote&) const = default;
};
using Quotes = Columns<Quote>;
static_assert(std::random_access_iterator<Quotes::iterator>);
static_assert(std::sortable<Quotes::iterator, std::less<>,
                            decltype([](const Quote& quote) { return quote.symbol; })>);
static_assert(std::is_same_v<decltype(std::declval<const Quotes&>().column<&Quote::price>()),
                             std::span<const double>>);

Quote quote_of(std::uint64_t number) {
    return {static_cast<std::uint32_t>(number),
            static_cast<double>(number) / 8,
            number % 3 == 0,
            std::string(number % 40, 'v'),
            {'a', 'b', static_cast<char>('a' + number % 26), '\0', 'e'},
            static_cast<double>(number % 1000)};
}

bool are_same(const Quotes& quotes, const std::vector<Quote>& oracle) {
    if (quotes.size() != oracle.size() || quotes.to_vector() != oracle) return false;
    for (std::size_t i = 0; i != oracle.size(); ++i) {
        if (quotes.column<&Quote::price>()[i] != oracle[i].price ||
            quotes.column<&Quote::volume>()[i] != oracle[i].volume ||
            quotes.column<&Quote::is_bid>()[i] != oracle[i].is_bid ||
            quotes[i].get<&Quote::venue>() != oracle[i].venue) {
            return false;
        }
    }
    return true;
}

TEST(Columns, AreAVectorOfRecords) {
    std::mt19937_64 random{1};
    Quotes quotes;
    std::vector<Quote> oracle;
    const auto at = [&] { return random() % oracle.size(); };
    for (int i = 0; i != 6'000; ++i) {
        const Quote quote = quote_of(random() % 10'000);
        const std::uint64_t choice = oracle.size() < 5 ? 0 : random() % 12;
        if (choice < 6) {
            quotes.push_back(quote);
            oracle.push_back(quote);
        } else if (choice == 6) {
            const auto first = static_cast<std::ptrdiff_t>(at());
            quotes.erase(static_cast<std::size_t>(first));
            oracle.erase(oracle.begin() + first);
        } else if (choice == 7) {
            const std::size_t place = at();
            quotes.erase_unordered(place);
            oracle[place] = oracle.back();
            oracle.pop_back();
        } else if (choice == 8) {
            const std::size_t place = at();
            quotes[place] = quote;
            oracle[place] = quote;
        } else if (choice == 9) {
            const std::size_t one = at();
            const std::size_t other = at();
            quotes[one] = quotes[other];  // the content, as of references
            oracle[one] = oracle[other];
            quotes[other].get<&Quote::volume>() += 1;
            oracle[other].volume += 1;
        } else if (choice == 10 && random() % 8 == 0) {
            const std::size_t first = at();
            const std::size_t last = first + random() % (oracle.size() - first);
            quotes.erase(first, last);
            oracle.erase(oracle.begin() + static_cast<std::ptrdiff_t>(first),
                         oracle.begin() + static_cast<std::ptrdiff_t>(last));
        } else if (choice == 11 && random() % 8 == 0) {
            const std::size_t place = at();
            quotes.push_back(quotes[place]);
            oracle.push_back(Quote(oracle[place]));
            if (random() % 2 == 0) quotes.shrink_to_fit();
        }
        if (i % 100 == 0) {
            ASSERT_TRUE(are_same(quotes, oracle)) << i;
        }
    }
    Quotes copy(quotes);
    EXPECT_TRUE(are_same(copy, oracle));
    const Quotes moved = std::move(copy);
    EXPECT_TRUE(are_same(moved, oracle));
    copy = moved;
    EXPECT_TRUE(are_same(copy, oracle));
    quotes.clear();
    quotes.append(oracle);
    EXPECT_TRUE(are_same(quotes, oracle));
    EXPECT_TRUE(are_same(Quotes{std::span<const Quote>(oracle)}, oracle));
}

TEST(Columns, BeginAtCacheLines) {
    Quotes quotes;
    for (std::uint64_t i = 0; i != 37; ++i) quotes.push_back(quote_of(i));
    const auto place = [](const auto& column) {
        return reinterpret_cast<std::uintptr_t>(column.data()) % 64;
    };
    EXPECT_EQ(place(quotes.column<&Quote::is_bid>()), 0U);
    EXPECT_EQ(place(quotes.column<&Quote::flags>()), 0U);
    EXPECT_EQ(place(quotes.column<&Quote::volume>()), 0U);
    EXPECT_EQ(quotes.column_at<0>().data(), quotes.column<&Quote::symbol>().data());
    EXPECT_EQ(quotes.column_at<5>().data(), quotes.column<&Quote::volume>().data());
}

TEST(Columns, AreSortedAndSearchedByAlgorithms) {
    std::mt19937_64 random{2};
    Quotes quotes;
    std::vector<Quote> oracle;
    for (int i = 0; i != 500; ++i) oracle.push_back(quote_of(random() % 100'000));
    quotes.append(oracle);
    const auto symbol = [](const Quote& quote) { return quote.symbol; };
    std::ranges::sort(quotes, {}, symbol);
    std::ranges::sort(oracle, {}, symbol);
    EXPECT_TRUE(are_same(quotes, oracle));
    double sum = 0;
    for (const auto row : std::as_const(quotes)) sum += row.get<&Quote::price>();
    const auto prices = quotes.column<&Quote::price>();
    EXPECT_EQ(sum, std::accumulate(prices.begin(), prices.end(), 0.0));
    EXPECT_THROW((void)quotes.at(500), std::out_of_range);
}

struct Owner {
    int number;
    std::unique_ptr<int> owned;
};
TEST(Columns, TakeMembersThatCannotBeCopied) {
    Columns<Owner> owners;
    for (int i = 0; i != 100; ++i) owners.emplace_back(i, std::make_unique<int>(i));
    owners.erase(10, 20);
    owners.erase_unordered(0);
    Columns<Owner> moved = std::move(owners);
    ASSERT_EQ(moved.size(), 89U);
    for (std::size_t i = 0; i != moved.size(); ++i) {
        EXPECT_EQ(*moved.column<&Owner::owned>()[i], moved.column<&Owner::number>()[i]);
    }
    const Owner taken = moved[0].take();
    EXPECT_EQ(*taken.owned, 99);
    EXPECT_EQ(moved[0].get<&Owner::owned>(), nullptr);
    swap(moved[0], moved[1]);
    EXPECT_EQ(*moved[0].get<&Owner::owned>(), 1);
}

struct Sixteen {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
TEST(Columns, AreAsManyAsMembers) {
    Columns<Sixteen> columns;
    columns.push_back({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    EXPECT_EQ(Columns<Sixteen>::columns_count, 16U);
    EXPECT_EQ(columns.column<&Sixteen::p>()[0], 16);
    EXPECT_EQ(columns.column<&Sixteen::a>()[0], 1);
}

TEST(Columns, AreUnchangedWhereTheMemoryIsUsedUp) {
    std::array<std::byte, 16'384> buffer{};
    std::pmr::monotonic_buffer_resource resource{buffer.data(), buffer.size(),
                                                 std::pmr::null_memory_resource()};
    Columns<Quote, std::pmr::polymorphic_allocator<Quote>> quotes{&resource};
    std::size_t count = 0;
    EXPECT_THROW(
        for (;; ++count) { quotes.push_back(quote_of(count)); }, std::bad_alloc);
    ASSERT_EQ(quotes.size(), count);
    EXPECT_GT(count, 16U);
    for (std::size_t i = 0; i != count; ++i) EXPECT_EQ(quotes.record(i), quote_of(i));
    Columns<Quote, std::pmr::polymorphic_allocator<Quote>> elsewhere;
    elsewhere = std::move(quotes);
    EXPECT_EQ(elsewhere.size(), count);
    EXPECT_TRUE(quotes.empty());
}

}  // namespace
}  // namespace strid::memory
