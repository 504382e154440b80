// SPDX-License-Identifier: Apache-2.0
//
// Texts of values that have a fast path, against those of the general functions.
#include "../../src/table/value_text.hpp"

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strid/base/time_text.hpp>
#include <strid/table/plan.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

TEST(TableTexts, TimesAreThoseOfTheLibrary) {
    const TimeForm form{.kind = TimeForm::Kind::date, .offset = TimeForm::Offset::z};
    for (const auto seed : strid::test::seeds(12)) {
        std::mt19937_64 random(seed);
        for (int i = 0; i != 1'000; ++i) {
            constexpr std::int64_t units[] = {1, 1'000, 1'000'000, 100'000'000, 1'000'000'000};
            const std::int64_t unit = units[random() % std::size(units)];
            auto ns = static_cast<std::int64_t>(random() >> (random() % 3)) / unit * unit;
            if (i < 3) ns = i - 1;
            std::string fast;
            std::string general;
            append_time_text(fast, ns);
            append_time(general, EventTime::of_ns(ns), form, TimeNotation{});
            ASSERT_EQ(fast, general) << ns;
        }
    }
}

// A field in quotes takes the general way, one without quotes the fast one.
TEST(TableTexts, FieldsInQuotesAreReadAsOthers) {
    const Schema schema({{"d", {Kind::decimal, 2}}, {"at", {Kind::time}}, {"i", {Kind::int64}}});
    const strid::test::Folder folder;
    for (const auto seed : strid::test::seeds(6)) {
        std::mt19937_64 random(seed);
        std::string plain = "d,at,i\n";
        std::string quoted = plain;
        for (int i = 0; i != 500; ++i) {
            std::string decimal = random() % 3 == 0 ? "-" : "";
            for (auto digits = random() % 8; digits != 0; --digits) {
                decimal += static_cast<char>('0' + random() % 10);
            }
            if (random() % 2 == 0) decimal += '.';
            for (auto digits = 1 + random() % 4; digits != 0; --digits) {
                decimal += static_cast<char>('0' + random() % 10);
            }
            const std::string at = std::to_string(static_cast<std::int64_t>(random() >> 24) - 1000);
            plain += fmt::format("{},{},{}\n", decimal, at, i);
            quoted += fmt::format("\"{}\",\"{}\",{}\n", decimal, at, i);
        }
        const auto rows_of = [&](const std::string& text) {
            std::vector<test::Row> rows;
            (void)run(Plan::read_csv(folder.write("in.csv", text), schema),
                      [&rows](const Chunk& chunk) {
                          for (test::Row& row : test::rows_of(chunk)) rows.push_back(row);
                      });
            return rows;
        };
        const auto expected = rows_of(quoted);
        ASSERT_EQ(expected.size(), 500);
        ASSERT_EQ(rows_of(plain), expected) << seed;
    }
}

}  // namespace
}  // namespace strid::table
