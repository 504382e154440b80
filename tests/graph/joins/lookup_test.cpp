// SPDX-License-Identifier: Apache-2.0
//
// The lookup operator in graphs, against the obvious computation with std::map: by key, by range
// and by step, for records without an entry, in every way to run a graph; and tables that are
// exchanged while records come.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "../collected.hpp"
#include "lookups.hpp"

namespace strid {
namespace {

using test::Collected;
using test::key_of_number;
using test::Numbers;
using Table = test::NumberTable;

const std::uint64_t record_count = test::perturbed ? 1'000 : 5'000;

/// Every third key below 1,000 has an entry.
Table sparse_table(std::uint64_t add = 0) {
    std::vector<Table::Entry> entries;
    for (std::uint64_t key = 0; key < 1'000; key += 3) entries.push_back({key, key * 10 + add});
    std::reverse(entries.begin(), entries.end());
    return Table{std::move(entries)};
}
std::optional<std::uint64_t> sparse_value(std::uint64_t key) {
    if (key % 3 != 0) return std::nullopt;
    return key * 10;
}

using Pair = std::pair<std::uint64_t, std::uint64_t>;

TEST(Lookup, FindsByKeyInEveryWay) {
    std::vector<Pair> expected;
    for (std::uint64_t n = 0; n < record_count; ++n) {
        if (const auto value = sparse_value(key_of_number(n))) expected.emplace_back(n, *value);
    }
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        for (const bool is_first : {false, true}) {
            Graph graph{"lookup"};
            Collected<Pair> rows;
            auto pair = [](const std::uint64_t& number, const std::uint64_t& value) {
                return Pair{number, value};
            };
            auto numbers = graph.source(Numbers{record_count});
            if (is_first) {
                std::move(numbers)
                    .rebalance()
                    .lookup(sparse_table(), key_of_number, pair, {.name = "find"})
                    .sink(rows.sink());
            } else {
                std::move(numbers)
                    .lookup(sparse_table(), key_of_number, pair, {.name = "find"})
                    .sink(rows.sink());
            }
            const RunReport report = run(graph, way.options);
            ASSERT_EQ(rows.sorted(), expected);
            const OperatorReport& find = *report.find("find");
            ASSERT_EQ(find.kind, "lookup");
            ASSERT_EQ(find.records_in, record_count);
            ASSERT_EQ(find.records_out, expected.size());
            ASSERT_EQ(find.counters.at("missing"), record_count - expected.size());
        }
    }
}

TEST(Lookup, ChangesARecordInPlaceByAMember) {
    struct Order {
        std::uint64_t customer;
        std::uint64_t discount;
        auto operator<=>(const Order&) const = default;
    };
    std::vector<Order> orders;
    std::vector<Order> expected;
    for (std::uint64_t n = 0; n < 1'000; ++n) {
        orders.push_back({n, 0});
        if (const auto value = sparse_value(n)) expected.push_back({n, *value});
    }
    Graph graph{"lookup"};
    Collected<Order> rows;
    graph.source(from_vector(orders))
        .lookup(sparse_table(), field<&Order::customer>,
                [](Order& order, const std::uint64_t& value) { order.discount = value; })
        .sink(rows.sink());
    run(graph);
    EXPECT_EQ(rows.sorted(), expected);
}

TEST(Lookup, GivesAllRecordsWhereCombineTakesAPointer) {
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        Graph graph{"lookup"};
        Collected<Pair> rows;
        graph.source(Numbers{1'000})
            .rebalance()
            .lookup(sparse_table(), key_of_number,
                    [](const std::uint64_t& number, const std::uint64_t* value) {
                        return Pair{number, value == nullptr ? 1 : *value};
                    },
                    {.name = "find"})
            .sink(rows.sink());
        const RunReport report = run(graph, way.options);
        std::vector<Pair> expected;
        std::uint64_t missing = 0;
        for (std::uint64_t n = 0; n < 1'000; ++n) {
            const auto value = sparse_value(key_of_number(n));
            missing += value ? 0 : 1;
            expected.emplace_back(n, value.value_or(1));
        }
        ASSERT_EQ(rows.sorted(), expected);
        ASSERT_EQ(report.find("find")->counters.at("missing"), missing);
    }
}

TEST(Lookup, GivesMissingRecordsApart) {
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        Graph graph{"lookup"};
        Collected<Pair> pairs;
        Collected<std::uint64_t> numbers;
        auto [found, missing] =
            graph.source(Numbers{2'000})
                .lookup(sparse_table(), key_of_number,
                        [](const std::uint64_t& number, const std::uint64_t& value) {
                            return Pair{number, value};
                        },
                        missing_apart, {.name = "find"});
        std::move(found).sink(pairs.sink());
        std::move(missing).sink(numbers.sink());
        run(graph, way.options);
        std::vector<Pair> expected;
        std::vector<std::uint64_t> others;
        for (std::uint64_t n = 0; n < 2'000; ++n) {
            if (const auto value = sparse_value(key_of_number(n))) {
                expected.emplace_back(n, *value);
            } else {
                others.push_back(n);
            }
        }
        ASSERT_EQ(pairs.sorted(), expected);
        ASSERT_EQ(numbers.sorted(), others);
    }
}

TEST(Lookup, FindsRangesAndSteps) {
    // Of random ends, with gaps.
    std::mt19937_64 random{test::first_seed()};
    std::vector<RangeTable<std::uint64_t, std::string>::Entry> ranges;
    std::vector<StepTable<std::uint64_t, int>::Entry> steps;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> range_of;
    std::map<std::uint64_t, int> step_of;
    std::uint64_t next = 3;
    for (int i = 0; i < 3'000; ++i) {
        const std::uint64_t last = next + random() % 5;
        ranges.push_back({next, last, "range " + std::to_string(i)});
        range_of[next] = {last, ranges.back().value};
        steps.push_back({next, i});
        step_of[next] = i;
        next = last + 1 + random() % 3;
    }
    struct Row {
        std::uint64_t number;
        std::string range;
        int step;
        auto operator<=>(const Row&) const = default;
    };
    std::vector<Row> expected;
    for (std::uint64_t n = 0; n < 12'000; ++n) {
        Row row{n, "none", -1};
        if (auto at = range_of.upper_bound(n); at != range_of.begin()) {
            if (--at; n <= at->second.first) row.range = at->second.second;
        }
        if (auto at = step_of.upper_bound(n); at != step_of.begin()) row.step = (--at)->second;
        expected.push_back(row);
    }
    for (const bool is_first : {false, true}) {
        Graph graph{"lookup"};
        Collected<Row> rows;
        auto numbers = [&](auto stream) {
            return std::move(stream)
                .lookup(
                    RangeTable<std::uint64_t, std::string>{ranges},
                    [](const std::uint64_t& number) { return number; },
                    [](const std::uint64_t& number, const std::string* range) {
                        return Row{number, range == nullptr ? "none" : *range, -1};
                    })
                .separate()
                .lookup(StepTable<std::uint64_t, int>{steps}, field<&Row::number>,
                        [](Row& row, const int* step) {
                            if (step != nullptr) row.step = *step;
                        });
        };
        auto source = graph.source(Numbers{12'000});
        if (is_first) {
            numbers(std::move(source).separate()).sink(rows.sink());
        } else {
            numbers(std::move(source)).sink(rows.sink());
        }
        run(graph);
        ASSERT_EQ(rows.sorted(), expected);
    }
}

TEST(Lookup, FindsText) {
    const LookupTable<std::string, int> table{{{"pear", 1}, {"apple", 2}, {"", 3}}};
    struct Fruit {
        std::string name;
    };
    Graph graph{"lookup"};
    Collected<std::pair<std::string, int>> rows;
    graph.source(from_vector<Fruit>({{"apple"}, {"plum"}, {""}, {"pear"}}))
        .separate()
        .lookup(
            table, [](const Fruit& fruit) { return std::string_view(fruit.name); },
            [](const Fruit& fruit, const int* price) {
                return std::pair{fruit.name, price == nullptr ? 0 : *price};
            })
        .sink(rows.sink());
    run(graph);
    EXPECT_EQ(rows.sorted(), (std::vector<std::pair<std::string, int>>{
                                 {"", 3}, {"apple", 2}, {"pear", 1}, {"plum", 0}}));
}

TEST(Lookup, FindsNothingInAnEmptyTable) {
    Graph graph{"lookup"};
    Collected<std::uint64_t> rows;
    graph.source(Numbers{1'000})
        .rebalance()
        .lookup(CurrentTable<Table>{}, key_of_number,
                [](std::uint64_t& number, const std::uint64_t& value) { number = value; },
                {.name = "find"})
        .sink(rows.sink());
    const RunReport report = run(graph);
    EXPECT_TRUE(rows.sorted().empty());
    EXPECT_EQ(report.find("find")->counters.at("missing"), 1'000U);
}

/// A key, and a function of what was found, that throw for one number of so many.
struct ThrowingKey {
    std::uint64_t of;
    std::uint64_t at;
    std::uint64_t operator()(const std::uint64_t& number) const {
        if (number % of == at) throw std::runtime_error("no key of " + std::to_string(number));
        return number;
    }
};
struct ThrowingCombine {
    std::uint64_t of;
    std::uint64_t at;
    void operator()(std::uint64_t& number, const std::uint64_t* value) const {
        if (number % of == at) throw std::runtime_error("no value");
        if (value != nullptr) number = *value;
    }
};

/// Of a function that throws for some records, those are skipped, wherever they stand in a batch.
TEST(Lookup, SkipsRecordsThatItsFunctionsThrowOn) {
    const ThrowingKey throwing_key{.of = 100, .at = 1};
    const ThrowingCombine throwing_combine{.of = 100, .at = 2};
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        for (const bool is_first : {false, true}) {
            Graph graph{"lookup"};
            Collected<std::uint64_t> rows;
            const OperatorOptions options{.name = "find", .on_exception = OnException::skip};
            auto numbers = graph.source(Numbers{3'000});
            if (is_first) {
                std::move(numbers)
                    .rebalance()
                    .lookup(sparse_table(), throwing_key, throwing_combine, options)
                    .sink(rows.sink());
            } else {
                std::move(numbers)
                    .lookup(sparse_table(), throwing_key, throwing_combine, options)
                    .sink(rows.sink());
            }
            const RunReport report = run(graph, way.options);
            std::vector<std::uint64_t> expected;
            for (std::uint64_t n = 0; n < 3'000; ++n) {
                if (n % 100 == 1 || n % 100 == 2) continue;
                expected.push_back(n < 1'000 && n % 3 == 0 ? n * 10 : n);
            }
            std::sort(expected.begin(), expected.end());
            ASSERT_EQ(rows.sorted(), expected);
            ASSERT_EQ(report.find("find")->records_skipped, 60U);
        }
    }
}

TEST(Lookup, ThrowsWhatItsFunctionsThrow) {
    for (const bool is_first : {false, true}) {
        Graph graph{"lookup"};
        Collected<std::uint64_t> rows;
        const ThrowingKey key{.of = 1'000, .at = 500};
        const ThrowingCombine combine{.of = 1'000, .at = 1'000};
        auto numbers = graph.source(Numbers{1'000});
        if (is_first) {
            std::move(numbers)
                .rebalance()
                .lookup(sparse_table(), key, combine, {.name = "find"})
                .sink(rows.sink());
        } else {
            std::move(numbers)
                .lookup(sparse_table(), key, combine, {.name = "find"})
                .sink(rows.sink());
        }
        try {
            run(graph);
            FAIL() << "no exception";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "find");
            EXPECT_NE(std::string(error.what()).find("no key of 500"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace strid
