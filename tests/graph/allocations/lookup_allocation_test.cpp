// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in look-ups (allocations.hpp), fused with a source and first of a node.
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/stream/graph.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;

using Values = LookupTable<std::uint64_t, std::uint64_t>;
using Ranges = RangeTable<std::uint64_t, std::uint64_t>;

TEST(Allocations, NoneForARecordThatIsLookedUp) {
    std::vector<Values::Entry> entries;
    std::vector<Ranges::Entry> ranges;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        entries.push_back({i * 1'000'003, i});
        ranges.push_back({i * 100, i * 100 + 90, i});
    }
    const CurrentTable<Values> values{Values{std::move(entries)}};
    const CurrentTable<Ranges> networks{Ranges{std::move(ranges)}};
    const auto add = [](std::uint64_t& n, const std::uint64_t* value) {
        n += value == nullptr ? 1 : *value;
    };
    const auto replace = [](const std::uint64_t& n, const std::uint64_t& value) {
        return std::pair{n, value};
    };
    const auto itself = [](const std::uint64_t& n) { return n; };
    expect_none_per_record("lookup", [&](auto stream) {
        std::move(stream)
            .lookup(values, itself, add)
            .lookup(networks, itself, replace)
            .sink(Drop{});
    });
    expect_none_per_record("lookup, first of a node", [&](auto stream) {
        std::move(stream).rebalance().lookup(networks, itself, replace).sink(Drop{});
    });
    expect_none_per_record("lookup, missing apart", [&](auto stream) {
        auto [found, missing] =
            std::move(stream).separate().lookup(networks, itself, replace, missing_apart);
        std::move(found).sink(Drop{});
        std::move(missing).sink(Drop{});
    });
}

}  // namespace
}  // namespace strid
