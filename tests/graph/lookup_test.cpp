// SPDX-License-Identifier: Apache-2.0
//
// The lookup operator in graphs, against the obvious computation with std::map: by key, by range
// and by step, for records without an entry, in every way to run a graph; and tables that are
// exchanged while records come.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <strid/graph/graph.hpp>

#include "collected.hpp"

namespace strid {
namespace {

using test::Collected;
using test::Numbers;
using Table = LookupTable<std::uint64_t, std::uint64_t>;

const std::uint64_t record_count = test::perturbed ? 3'000 : 20'000;

std::uint64_t key_of_number(const std::uint64_t& number) {
    return number * 7919 % 1'000;
}

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

}  // namespace
}  // namespace strid
