// SPDX-License-Identifier: Apache-2.0
//
// Digits eight at a time against one at a time: every count of them, every byte behind them.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <strid/engine/connector/digits.hpp>

namespace strid {
namespace {

struct Digits {
    std::size_t count = 0;
    std::uint64_t number = 0;
    friend bool operator==(const Digits&, const Digits&) = default;
};

Digits one_at_a_time(std::string_view text) {
    Digits digits;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        ++digits.count;
        digits.number = digits.number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return digits;
}

Digits eight_at_a_time(const std::string& text) {
    const char* p = text.data();
    Digits digits;
    digits.count = static_cast<std::size_t>(detail::take_digits(p, digits.number));
    EXPECT_EQ(p, text.data() + digits.count);
    return digits;
}

std::string random_digits(std::mt19937_64& random, std::size_t count) {
    std::string digits(count, '0');
    for (char& digit : digits) digit = static_cast<char>('0' + random() % 10);
    return digits;
}

constexpr std::size_t digits_max = 18;

// The bytes behind the one that ends the digits are digits again, or of one kind: no carry and no
// borrow of it may reach back.
TEST(Digits, EndAtEveryOtherByte) {
    std::mt19937_64 random{5};
    for (std::size_t count = 0; count <= digits_max; ++count) {
        for (int byte = 0; byte < 256; ++byte) {
            const char end = static_cast<char>(byte);
            if (end >= '0' && end <= '9') continue;
            const std::string digits = random_digits(random, count);
            for (const char rest : {'5', '\0', '\xff', '/', ':'}) {
                const std::string text = digits + end + std::string(16, rest);
                ASSERT_EQ(eight_at_a_time(text), one_at_a_time(text))
                    << digits << " and then byte " << byte;
                ASSERT_EQ(eight_at_a_time(text).count, count);
            }
        }
    }
}

TEST(Digits, OfTheLeastAndTheLargestNumbers) {
    for (std::size_t count = 1; count <= digits_max; ++count) {
        for (const char digit : {'0', '1', '9'}) {
            const std::string text = std::string(count, digit) + ',' + std::string(16, ' ');
            EXPECT_EQ(eight_at_a_time(text), one_at_a_time(text)) << text;
        }
    }
}

TEST(Digits, OfRandomBytes) {
    std::mt19937_64 random{6};
    for (int round = 0; round < 100'000; ++round) {
        std::string text(32, '\0');
        for (char& c : text) {
            c = static_cast<char>(random() % 8 == 0 ? random() % 256 : '0' + random() % 10);
        }
        text[digits_max] = ',';
        ASSERT_EQ(eight_at_a_time(text), one_at_a_time(text)) << "round " << round;
    }
}

TEST(Digits, OfOneWord) {
    std::mt19937_64 random{7};
    for (unsigned count = 1; count <= 8; ++count) {
        const std::string text = random_digits(random, count) + std::string(8, ';');
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), sizeof word);
        if constexpr (std::endian::native == std::endian::little) {
            EXPECT_EQ(detail::leading_digits(word), count);
            EXPECT_EQ(detail::number_of_digits(word, count), one_at_a_time(text).number);
        }
    }
}

}  // namespace
}  // namespace strid
