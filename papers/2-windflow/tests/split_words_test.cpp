// SPDX-License-Identifier: Apache-2.0
//
// Words of a line against the obvious search, at every length around the blocks that are looked at.
#include "papers/2-windflow/word-count/split_words.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace strid::apps::word_count {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
    Words words;
    for_each_word(line, [&](std::string_view word) { words.emplace_back(word); });
    return words;
}

Words expected_words(const std::string& line) {
    Words words;
    std::string word;
    for (const char c : line + ' ') {
        if (c != ' ') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

TEST(SplitWords, OnlySpacesPart) {
    EXPECT_EQ(words_of(""), Words{});
    EXPECT_EQ(words_of("   "), Words{});
    EXPECT_EQ(words_of("one"), Words{"one"});
    EXPECT_EQ(words_of("  one\ttwo, three\r  "), (Words{"one\ttwo,", "three\r"}));
    EXPECT_EQ(words_of(std::string_view("a\0b c", 5)), (Words{std::string("a\0b", 3), "c"}));
}

TEST(SplitWords, AgreesWithTheObviousSearch) {
    std::mt19937 random{17};
    for (std::size_t length = 0; length < 300; ++length) {
        for (const unsigned one_in : {1U, 2U, 5U, 40U, 1000U}) {
            std::string line;
            while (line.size() < length) line += random() % one_in == 0 ? ' ' : 'x';
            // Its own allocation, so that the address sanitizer sees a read behind the end.
            const std::vector<char> exact(line.begin(), line.end());
            ASSERT_EQ(words_of({exact.data(), exact.size()}), expected_words(line)) << line;
        }
    }
}

}  // namespace
}  // namespace strid::apps::word_count
