// SPDX-License-Identifier: Apache-2.0
//
// Keys of arrays of characters and of aggregates against a std::map of the same records.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "counted_keys.hpp"

namespace strid {
namespace {

struct Place {
    int area;
    std::array<char, 8> name;
    friend auto operator<=>(const Place&, const Place&) = default;
};
std::array<char, 8> name_of(std::uint64_t n) {
    std::array<char, 8> name{};
    const std::string digits = std::to_string(n % 23);
    digits.copy(name.data(), name.size());
    return name;
}

TEST(Keys, MayBeArraysOfCharacters) {
    test::are_counted(name_of);
}

TEST(Keys, MayBeAggregates) {
    test::are_counted([](std::uint64_t n) { return Place{static_cast<int>(n % 3), name_of(n)}; });
}

TEST(Keys, HashByWhatTheyHold) {
    EXPECT_EQ(hash_of(Place{1, name_of(2)}), hash_of(Place{1, name_of(2)}));
    EXPECT_NE(hash_of(Place{1, name_of(2)}), hash_of(Place{2, name_of(2)}));
    EXPECT_NE(hash_of(Place{1, name_of(2)}), hash_of(Place{1, name_of(3)}));
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
