// SPDX-License-Identifier: Apache-2.0
//
// Expectations by hand, from the tables of UTF-8 (RFC 3629) and of control characters (ECMA-48).
#include <gtest/gtest.h>

#include <strid/engine/base/excerpt.hpp>

namespace strid {
namespace {

TEST(Excerpt, OrdinaryTextStays) {
    EXPECT_EQ(excerpt(""), "");
    EXPECT_EQ(excerpt("a b\"c\\"), "a b\"c\\");
    EXPECT_EQ(excerpt("Zürich 東京 🚲"), "Zürich 東京 🚲");
}

TEST(Excerpt, ControlCharactersAreVisible) {
    EXPECT_EQ(excerpt("\x1b[2J"), "\\x1b[2J");
    EXPECT_EQ(excerpt(std::string_view("\0\t\n\x7f", 4)), "\\x00\\x09\\x0a\\x7f");
    EXPECT_EQ(excerpt("\xc2\x9b"
                      "2J"),
              "\\xc2\\x9b2J");                                  // CSI as one character
    EXPECT_EQ(excerpt("a\xe2\x80\xae"), "a\\xe2\\x80\\xae");    // turns the direction
    EXPECT_EQ(excerpt("\xef\xbb\xbfts"), "\\xef\\xbb\\xbfts");  // a byte order mark
}

TEST(Excerpt, WhatIsNoUtf8IsVisible) {
    EXPECT_EQ(excerpt("\x9b"
                      "2J"),
              "\\x9b2J");
    EXPECT_EQ(excerpt("a\xff"), "a\\xff");
    EXPECT_EQ(excerpt("\xc3"), "\\xc3");  // cut short by the input
    EXPECT_EQ(excerpt("\xc3x"), "\\xc3x");
    EXPECT_EQ(excerpt("\xc0\x9b"), "\\xc0\\x9b");           // an overlong ESC
    EXPECT_EQ(excerpt("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
    EXPECT_EQ(excerpt("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Excerpt, IsNeverCutInsideACharacter) {
    EXPECT_EQ(excerpt("abcd", 4), "abcd");
    EXPECT_EQ(excerpt("abcde", 4), "abcd...");
    EXPECT_EQ(excerpt("abcü", 4), "abc...");
    EXPECT_EQ(excerpt("ab🚲", 5), "ab...");
    EXPECT_EQ(excerpt("ab🚲", 6), "ab🚲");
    for (std::size_t bytes = 0; bytes <= 12; ++bytes) {
        const std::string shown = excerpt("日本語東", bytes);
        EXPECT_EQ(shown,
                  std::string("日本語東").substr(0, bytes / 3 * 3) + (bytes < 12 ? "..." : ""));
    }
}

}  // namespace
}  // namespace strid
