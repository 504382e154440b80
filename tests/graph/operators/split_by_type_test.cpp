// SPDX-License-Identifier: Apache-2.0
//
// A stream of variants as a stream for each type: every record in its own, in order, moved and not
// copied.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

const std::uint64_t count = test::perturbed ? 300 : 1500;

struct Even {
    std::uint64_t number;
};
struct Odd {
    std::string text;
};
using EvenOrOdd = std::variant<Even, Odd>;

EvenOrOdd even_or_odd(std::uint64_t n) {
    if (n % 2 == 0) return Even{n};
    return Odd{"the odd number " + std::to_string(n)};
}

TEST(SplitByType, GivesEachRecordToTheStreamOfItsTypeInOrder) {
    std::vector<std::uint64_t> expected_numbers;
    std::vector<std::string> expected_texts;
    for (std::uint64_t n = 0; n < count; n += 2) expected_numbers.push_back(n);
    for (std::uint64_t n = 1; n < count; n += 2) {
        expected_texts.push_back("the odd number " + std::to_string(n));
    }
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        std::vector<std::uint64_t> numbers;
        std::vector<std::string> texts;
        Graph graph{"types"};
        auto [even, odd] = graph.source(test::Numbers{count})
                               .map(even_or_odd, {.parallelism = 1})
                               .split_by_type({.parallelism = 1});
        std::move(even).sink([&](const Even& one) { numbers.push_back(one.number); });
        std::move(odd).sink([&](Odd&& one) { texts.push_back(std::move(one.text)); });
        run(graph, way.options);
        EXPECT_EQ(numbers, expected_numbers);
        EXPECT_EQ(texts, expected_texts);
    }
}

TEST(SplitByType, MovesWhatCannotBeCopied) {
    using Pointer = std::unique_ptr<std::uint64_t>;
    std::uint64_t pointed = 0;
    std::uint64_t plain = 0;
    Graph graph{"moves"};
    auto [pointers, numbers] =
        graph.source(test::Numbers{count})
            .map([](std::uint64_t n) -> std::variant<Pointer, std::uint64_t> {
                if (n % 3 == 0) return std::make_unique<std::uint64_t>(n);
                return n;
            })
            .split_by_type();
    std::move(pointers).sink([&](const Pointer& one) { pointed += *one; });
    std::move(numbers).sink([&](std::uint64_t n) { plain += n; });
    run(graph);
    const std::uint64_t last = (count - 1) / 3;  // 0, 3, ... 3 * last
    EXPECT_EQ(pointed, 3 * last * (last + 1) / 2);
    EXPECT_EQ(plain + pointed, count * (count - 1) / 2);
}

TEST(SplitByType, NamesItsOperatorsByType) {
    Graph graph{"names"};
    auto [numbers, texts] =
        graph.source(test::Numbers{10})
            .map([](std::uint64_t n) -> std::variant<std::uint64_t, std::string> {
                if (n < 4) return n;
                return std::to_string(n);
            })
            .split_by_type({.name = "parted"});
    std::move(numbers).sink([](std::uint64_t) {});
    std::move(texts).sink([](const std::string&) {});
    const RunReport report = run(graph);
    ASSERT_NE(report.find("parted-std::string"), nullptr);
    EXPECT_EQ(report.find("parted-std::string")->records_in, 6U);
    EXPECT_EQ(report.find("parted-unsigned long")->records_in, 4U);
}

TEST(SplitByType, EveryTypeHasToBeConsumed) {
    Graph graph{"half"};
    auto [numbers, texts] =
        graph.source(test::Numbers{10})
            .map([](std::uint64_t n) { return std::variant<std::uint64_t, std::string>{n}; })
            .split_by_type();
    std::move(numbers).sink([](std::uint64_t) {});
    static_cast<void>(texts);
    EXPECT_THROW(run(graph), GraphError);
}

}  // namespace
}  // namespace strid
