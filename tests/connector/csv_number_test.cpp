// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a few digits are read and written by ways of their own. The oracles are the C
// library's conversion for reading and the formatting library for writing.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strid/connector/csv_value.hpp>

namespace strid {
namespace {

std::vector<std::string> numbers_of_text() {
    std::vector<std::string> texts = {"0",
                                      "-0",
                                      "-0.0",
                                      "0.1",
                                      "1.",
                                      ".5",
                                      "-.5",
                                      "00012.500",
                                      "1e3",
                                      "1.5e-3",
                                      "1E5",
                                      "5e-324",
                                      "9007199254740993",
                                      "999999999999999",
                                      "9999999999999999",
                                      "0.000000000000001",
                                      "123456789012345678901234567890",
                                      "0.30000000000000004",
                                      "99999999.9999995"};
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const auto digits = std::to_string(random() >> random() % 64);
        const std::size_t point = random() % (digits.size() + 1);
        const std::string sign = random() % 2 == 0 ? "-" : "";
        texts.push_back(sign + digits);
        texts.push_back(sign + digits.substr(0, point) + "." + digits.substr(point));
    }
    return texts;
}

TEST(CsvNumber, ScanningReadsWhatTheLibraryReads) {
    for (const std::string& number : numbers_of_text()) {
        const std::string text = number + ",1\n" + std::string(64, ' ');
        const char* p = text.data();
        double scanned = 0;
        ASSERT_TRUE(detail::scan_csv_value(p, p + number.size() + 3, ',', scanned)) << number;
        EXPECT_EQ(p, text.data() + number.size()) << number;
        const double expected = std::strtod(number.c_str(), nullptr);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(scanned), std::bit_cast<std::uint64_t>(expected))
            << number;
    }
}

TEST(CsvNumber, ScanningLeavesWhatIsNoNumber) {
    for (const char* text : {"-,", ",", "a,", "-a,", "--1,", "nan,", "inf,", "1e999,", " 1,"}) {
        const std::string row = std::string(text) + "1\n" + std::string(64, ' ');
        const char* p = row.data();
        double value = 0;
        EXPECT_FALSE(detail::scan_csv_value(p, p + row.size() - 64, ',', value)) << text;
    }
}

TEST(CsvNumber, WritingIsTheShortestText) {
    std::vector<double> values = {0.0,  -0.0, 1e-4, 9.9999e-5, 1e-5,      123456.654321,    1e9,
                                  1e15, 1e16, 0.1,  0.3,       0.1 + 0.2, 999999999.999999, 5e-324,
                                  1e308};
    for (const std::string& number : numbers_of_text()) {
        values.push_back(std::strtod(number.c_str(), nullptr));
    }
    std::mt19937_64 random(8);
    for (int i = 0; i < 20'000; ++i) {
        values.push_back(static_cast<double>(random() % 1'000'000'000) / 1e6);
        values.push_back(static_cast<double>(random() >> 14) / 1e6);
        values.push_back(std::nextafter(values.back(), 0));
    }
    for (const double value : values) {
        for (const double signed_value : {value, -value}) {
            std::string text;
            detail::append_csv_value(text, signed_value, ',');
            EXPECT_EQ(text, fmt::format("{}", signed_value));
        }
    }
}

}  // namespace
}  // namespace strid
