// SPDX-License-Identifier: Apache-2.0
//
// Keys of arrays of characters, of aggregates, and of types with a std::hash, against a std::map of
// the same records.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

const std::uint64_t count = test::perturbed ? 300 : 1500;

struct Place {
    int area;
    std::array<char, 8> name;
    friend auto operator<=>(const Place&, const Place&) = default;
};
class Account {
  public:
    explicit Account(std::string number) : number_(std::move(number)) {}
    [[nodiscard]] const std::string& number() const { return number_; }
    friend auto operator<=>(const Account&, const Account&) = default;

  private:
    std::string number_;
};

}  // namespace
}  // namespace strid

template <>
struct std::hash<strid::Account> {
    std::size_t operator()(const strid::Account& account) const noexcept {
        return std::hash<std::string>{}(account.number());
    }
};

namespace strid {
namespace {

std::array<char, 8> name_of(std::uint64_t n) {
    std::array<char, 8> name{};
    const std::string digits = std::to_string(n % 23);
    digits.copy(name.data(), name.size());
    return name;
}

/// Counts by key in windows of the whole stream's records, and in a state for each key.
template <class KeyOf>
void are_counted(KeyOf key_of) {
    using Key = std::invoke_result_t<KeyOf, std::uint64_t>;
    std::map<Key, std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) ++expected[key_of(n)];

    using Counts = std::vector<std::pair<Key, std::uint64_t>>;
    test::Collected<std::pair<Key, std::uint64_t>> folded;
    test::Collected<std::pair<Key, std::uint64_t>> windows;
    Graph graph{"keys"};
    auto [first, second] = graph.source(test::Numbers{count}).template tee<2>();
    std::move(first)
        .key_by(key_of)
        .accumulate(std::uint64_t{0}, [](std::uint64_t& sum, std::uint64_t) { ++sum; },
                    Emit::at_end, {.parallelism = 2})
        .map([](const auto& keyed) { return std::pair(keyed.key, keyed.value); })
        .sink(folded.sink());
    std::move(second)
        .event_time([](std::uint64_t) { return EventTime::of_ns(0); }, MonotonousTime{})
        .key_by(key_of)
        .window(window::TimeWindows::tumbling(Duration{10}), window::count(), {.parallelism = 2})
        .map([](const auto& result) { return std::pair(result.key, result.value); })
        .sink(windows.sink());
    run(graph);
    EXPECT_EQ(folded.sorted(), Counts(expected.begin(), expected.end()));
    EXPECT_EQ(windows.sorted(), Counts(expected.begin(), expected.end()));
}

TEST(Keys, MayBeArraysOfCharacters) {
    are_counted(name_of);
}

TEST(Keys, MayBeAggregates) {
    are_counted([](std::uint64_t n) { return Place{static_cast<int>(n % 3), name_of(n)}; });
}

TEST(Keys, MayHaveAHashOfTheirOwn) {
    are_counted([](std::uint64_t n) { return Account{std::to_string(n % 11)}; });
}

TEST(Keys, HashByWhatTheyHold) {
    EXPECT_EQ(hash_of(Place{1, name_of(2)}), hash_of(Place{1, name_of(2)}));
    EXPECT_NE(hash_of(Place{1, name_of(2)}), hash_of(Place{2, name_of(2)}));
    EXPECT_NE(hash_of(Place{1, name_of(2)}), hash_of(Place{1, name_of(3)}));
    EXPECT_NE(hash_of(Account{"1"}), hash_of(Account{"2"}));
    // As it was before there were others: what is stored by it can be found again.
    EXPECT_EQ(hash_of(std::pair(1, std::string_view{"a"})),
              hash_of(std::tuple(1, std::string_view{"a"})));
}

struct Named {
    std::string_view name;
    int number;
    friend bool operator==(const Named&, const Named&) = default;
};
struct Twice {
    std::array<std::string_view, 2> names;
    Named named;
    friend bool operator==(const Twice&, const Twice&) = default;
};

/// Text in an aggregate is the operator's own, as text in a pair is.
TEST(Keys, OwnTheTextsOfAggregates) {
    static_assert(operators::key_holds_text<Named> && operators::key_holds_text<Twice>);
    operators::KeyTexts texts;
    std::string passing = "abc";
    const Twice kept = texts.own(Twice{{passing, "x"}, {passing, 7}});
    passing = "zzz";
    EXPECT_EQ(kept, (Twice{{"abc", "x"}, {"abc", 7}}));
}

}  // namespace
}  // namespace strid
