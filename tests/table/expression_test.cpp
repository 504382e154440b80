// SPDX-License-Identifier: Apache-2.0
//
// Expressions beyond those that SQLite can answer: decimals, times, intervals, casts, faults, what
// is computed for which rows; the checker's errors; and the parser with its limits.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/table/evaluator.hpp>
#include <strid/table/expression.hpp>

#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using test::Row;
using test::Value;
using testing::HasSubstr;
__extension__ using Wide = __int128;

Schema columns() {
    return Schema({{"n", {Kind::int64}},
                   {"amount", {Kind::decimal, 2}},
                   {"rate", {Kind::decimal, 4}},
                   {"at", {Kind::time}},
                   {"length", {Kind::interval}},
                   {"name", {Kind::text}},
                   {"x", {Kind::float64}}});
}

/// The texts of the values of a column that one row has, as a cast writes them.
std::string answer(const std::string& text, const Row& row = {}, OnFault on_fault = OnFault::stop) {
    ChunkMemory memory;
    Row whole = row;
    whole.resize(columns().size());
    const Chunk chunk = test::chunk_of(columns(), {whole}, memory);
    Evaluator evaluator(parse_expression("cast(" + text + " as text)"), columns(), on_fault);
    Chunk answered(Schema({{"answer", {Kind::text}}}), 1, 1);
    answered.column(0) = evaluator.evaluate(chunk, memory);
    const Value value = test::value_at(answered, 0, 0);
    return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : "NULL";
}

template <class Thrown>
std::string fault_of(const std::string& text, const Row& row = {}) {
    try {
        const std::string value = answer(text, row);
        ADD_FAILURE() << text << " is " << value;
        return {};
    } catch (const Thrown& error) {
        return error.what();
    }
}

TEST(Expressions, DecimalsAreExact) {
    for (const auto seed : strid::test::seeds(300)) {
        std::mt19937_64 random(seed);
        const auto units = [&random](std::int64_t end) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * end)) - end;
        };
        const std::int64_t amount = units(seed % 3 == 0 ? 1'000 : 1'000'000'000);
        const std::int64_t rate = units(seed % 5 == 0 ? 100 : 10'000'000);
        const Row row{{}, Value(amount), Value(rate)};
        const auto text_of = [](Wide value, std::int64_t unit) {
            const Wide size = value < 0 ? -value : value;
            const int places = unit == 10'000 ? 4 : unit == 100 ? 2 : 6;
            return fmt::format("{}{}.{:0{}}", value < 0 ? "-" : "",
                               static_cast<std::int64_t>(size / unit),
                               static_cast<std::int64_t>(size % unit), places);
        };
        EXPECT_EQ(answer("amount + rate", row), text_of(Wide{amount} * 100 + rate, 10'000));
        EXPECT_EQ(answer("amount - rate", row), text_of(Wide{amount} * 100 - rate, 10'000));
        EXPECT_EQ(answer("amount * rate", row), text_of(Wide{amount} * rate, 1'000'000));
        EXPECT_EQ(answer("amount * 3", row), text_of(Wide{amount} * 3, 100));
        EXPECT_EQ(answer("amount < rate", row), amount * 100 < rate ? "true" : "false");
        const std::int64_t rounded = (std::abs(rate) + 50) / 100 * (rate < 0 ? -1 : 1);
        EXPECT_EQ(answer("cast(rate as decimal(2))", row), text_of(rounded, 100));
        EXPECT_EQ(answer("cast(cast(amount as text) as decimal(2)) = amount", row), "true");
    }
    EXPECT_EQ(answer("0.1 + 0.2 = 0.3"), "true");
    EXPECT_EQ(answer("0.1e0 + 0.2e0 = 0.3e0"), "false");
    EXPECT_EQ(answer("1.00 / 3"), answer("1e0 / 3"));
    EXPECT_THAT(fault_of<EvaluationError>("amount + 0.01", {{}, Value(999'999'999'999'999'999)}),
                HasSubstr("9999999999999999.99 + 0.01 is beyond its type"));
    EXPECT_THAT(fault_of<ExpressionError>("rate * rate * rate * rate * rate"),
                HasSubstr("the product has 20 digits behind the point"));
}

TEST(Expressions, TimesAndIntervals) {
    const Row row{{}, {}, {}, Value(1'769'853'600'000'000'000), Value(90'000'000'000)};
    EXPECT_EQ(answer("at", row), "2026-01-31T10:00:00Z");
    EXPECT_EQ(answer("at + length * 2", row), "2026-01-31T10:03:00Z");
    EXPECT_EQ(answer("at + '1h'", row), "2026-01-31T11:00:00Z");
    EXPECT_EQ(answer("at - time '2026-01-30'", row), "34h");
    EXPECT_EQ(answer("at >= '2026-01-31 10:00:00' and at < '2026-02-01'", row), "true");
    EXPECT_EQ(answer("length / 4", row), "22500ms");
    EXPECT_EQ(answer("length = interval '90s'", row), "true");
    EXPECT_EQ(answer("-length", row), "-90s");
    EXPECT_THAT(fault_of<ExpressionError>("at + at"), HasSubstr("there is no time + time"));
    EXPECT_THAT(fault_of<ExpressionError>("at + 5"), HasSubstr("there is no time + int64"));
    EXPECT_THAT(fault_of<EvaluationError>("length * 200000000000", row),
                HasSubstr("length * 200000000000: 90s * 200000000000 is beyond its type"));
    EXPECT_THAT(fault_of<EvaluationError>("at + '99999d'", row),
                HasSubstr("at + '99999d': 2026-01-31T10:00:00Z + 99999d is beyond its type"));
    EXPECT_THAT(fault_of<EvaluationError>("length / 0", row), HasSubstr(": 90s / 0 divides"));
    EXPECT_EQ(answer("coalesce(null - at, length) = length", row), "true");
    EXPECT_EQ(answer("null - length is null and at - null is null", row), "true");
}

TEST(Expressions, CastsRoundAndRefuse) {
    EXPECT_EQ(answer("cast(2.5e0 as int64)"), "3");
    EXPECT_EQ(answer("cast(-2.5e0 as integer)"), "-3");
    EXPECT_EQ(answer("cast(2.49 as bigint)"), "2");
    EXPECT_EQ(answer("cast(' 12 ' as int64) + 1"), "13");
    EXPECT_EQ(answer("cast(5 as bool)"), "true");
    EXPECT_EQ(answer("cast(1.005e0 as decimal(2))"), "1.00");
    EXPECT_EQ(answer("cast('1.005' as decimal(2))"), "1.01");
    EXPECT_THAT(
        fault_of<EvaluationError>("cast(name as int64)", {{}, {}, {}, {}, {}, Value("12x")}),
        HasSubstr("cast(name as int64): \"12x\": not an integer (row 1"));
    EXPECT_THAT(
        fault_of<EvaluationError>("cast(x as int64)", {{}, {}, {}, {}, {}, {}, Value(1e19)}),
        HasSubstr("is beyond the type"));
    EXPECT_THAT(fault_of<ExpressionError>("cast(at as int64)"),
                HasSubstr("time cannot become int64"));
}

// A boolean is 0 or 1 also where it is NULL: `or` with true is true, whatever stands there.
TEST(Expressions, BooleansUnderNullAreBooleans) {
    ChunkMemory memory;
    {
        Column dirty = memory.column(Kind::boolean, 1);
        std::fill_n(dirty.values<std::uint8_t>(), small_rows_max, std::uint8_t{0x37});
    }
    const Chunk chunk = test::chunk_of(columns(), {Row(columns().size())}, memory);
    Chunk made(Schema({{"flag", {Kind::boolean}}}), 1, 1);
    Evaluator cast(col("name").as({Kind::boolean}), columns());
    made.column(0) = cast.evaluate(chunk, memory);
    ASSERT_TRUE(made.column(0).is_null(0));
    Evaluator either((col("flag") || col("flag").is_null()) == true, made.schema());
    EXPECT_EQ(either.select(made).size(), 1);
}

TEST(Expressions, FaultsAreErrorsOrNull) {
    const Row row{Value(std::numeric_limits<std::int64_t>::max())};
    EXPECT_THAT(
        fault_of<EvaluationError>("n + 1", row),
        HasSubstr("n + 1: 9223372036854775807 + 1 is beyond its type (row 1 of its chunk)"));
    EXPECT_EQ(answer("n + 1", row, OnFault::null), "NULL");
    EXPECT_EQ(answer("n / 0", row, OnFault::null), "NULL");
    EXPECT_EQ(answer("x / 0", {{}, {}, {}, {}, {}, {}, Value(1.5)}, OnFault::null), "NULL");
    EXPECT_EQ(answer("-n - 1", row), "-9223372036854775808");
    EXPECT_THAT(fault_of<EvaluationError>("(-n - 1) / -1", row), HasSubstr("beyond"));
    EXPECT_EQ(answer("(-n - 1) % -1", row), "0");
    for (const std::int64_t divisor : {1L, 2L, 3L, 7L, 64L, 1'000'003L, 4611686018427387905L}) {
        for (const std::int64_t value : {0L, 1L, -1L, 6L, 7L, -7L, 9223372036854775807L}) {
            const auto by = [&](const char* sign, std::int64_t by_value) {
                return answer(fmt::format("n {} {}", sign, by_value), {Value(value)});
            };
            EXPECT_EQ(by("/", divisor), std::to_string(value / divisor));
            EXPECT_EQ(by("%", divisor), std::to_string(value % divisor));
            if (divisor == 1) continue;
            EXPECT_EQ(by("/", -divisor), std::to_string(value / -divisor));
            EXPECT_EQ(by("%", -divisor), std::to_string(value % -divisor));
        }
    }
}

// A number of another type may be too large for the type that two are compared in.
TEST(Expressions, ComparisonsHaveNoFaults) {
    const Row large{Value(std::numeric_limits<std::int64_t>::max()),
                    Value(std::int64_t{999'999'999'999'999'999}), Value(std::int64_t{1})};
    EXPECT_EQ(answer("n > 1.5", large), "true");
    EXPECT_EQ(answer("-n < 1.5", large), "true");
    EXPECT_EQ(answer("n = 1.5", large), "false");
    EXPECT_EQ(answer("n in (1., 0.5)", large), "false");
    EXPECT_EQ(answer("amount > rate", large), "true");
    EXPECT_EQ(answer("rate < amount and -amount <= rate", large), "true");
    EXPECT_EQ(answer("n between 1.5 and amount", large), "false");
    EXPECT_EQ(answer("1000000000000000000 > 0.999999999999999999"), "true");
    EXPECT_EQ(answer("1000000000000000000 = 999999999999999999."), "false");
    EXPECT_THAT(fault_of<EvaluationError>("n + 1.5", large), HasSubstr("beyond"));
    EXPECT_THAT(fault_of<EvaluationError>("cast(n as decimal(2)) > 1.5", large),
                HasSubstr("beyond"));
    // Every int64 is no decimal of 18 digits: the right side is for the rows that need it.
    EXPECT_EQ(answer("n < 5 and cast(n as decimal(0)) = 1", large), "false");
    EXPECT_EQ(answer("n > 5 or cast(n as decimal(0)) = 1", large), "true");
}

TEST(Expressions, TooManyDigitsAreNoDecimal) {
    for (const char* const text : {"9999999999999999999", "-9999999999999999999", "1e3",
                                   "99999999999999999.999", "9223372036854775808", "+-5", "."}) {
        const Row row{{}, {}, {}, {}, {}, Value(text)};
        EXPECT_EQ(answer("cast(name as decimal(2))", row, OnFault::null), "NULL") << text;
    }
    const Row row{{}, {}, {}, {}, {}, Value("000000000000000000000009999999999999999.994")};
    EXPECT_EQ(answer("cast(name as decimal(2))", row), "9999999999999999.99");
}

TEST(Expressions, AreComputedOnlyForRowsThatNeedThem) {
    const Row zero{Value(std::int64_t{0})};
    EXPECT_EQ(answer("n <> 0 and 10 / n > 1", zero), "false");
    EXPECT_EQ(answer("n = 0 or 10 / n > 1", zero), "true");
    EXPECT_EQ(answer("case when n <> 0 then 10 / n else -1 end", zero), "-1");
    EXPECT_EQ(answer("case n when 0 then 'none' when 1 then 'one' end", zero), "none");
    EXPECT_EQ(answer("coalesce(n, 1 / 0)", zero), "0");
    EXPECT_EQ(answer("n > 5 and 1 / 0 = 1", zero), "false");
    EXPECT_THAT(fault_of<EvaluationError>("n = 0 and 1 / 0 = 1", zero), HasSubstr("by zero"));
}

TEST(Expressions, TheCheckerNamesPlaceAndTypes) {
    EXPECT_EQ(fault_of<ExpressionError>("n > 1 and prize > 2"),
              "column 16: there is no column 'prize'; there are: n int64, amount decimal(2), rate "
              "decimal(4), at time, length interval, name text, x float64");
    EXPECT_EQ(fault_of<ExpressionError>("n > 1 and n + name > 2"),
              "column 18: n + name: there is no int64 + text");
    EXPECT_EQ(fault_of<ExpressionError>("n = name"),
              "column 8: n = name: int64 and text are no values of one type");
    EXPECT_EQ(fault_of<ExpressionError>("not n"), "column 10: n: is int64, where not takes bool");
    EXPECT_THAT(fault_of<ExpressionError>("case when n then 1 end"),
                HasSubstr("is int64, where a condition of case takes bool"));
    EXPECT_THAT(fault_of<ExpressionError>("coalesce(1, 'a')"), HasSubstr("no values of one type"));
    EXPECT_THROW(Evaluator(col("n") + col("name"), columns()), ExpressionError);
}

TEST(ParseExpression, KnowsTheLevelsOfBinding) {
    const auto same = [](const std::string& text, const Expression& expression) {
        EXPECT_EQ(parse_expression(text).text(), expression.text()) << text;
    };
    same("price * volume > 1e6 AND symbol = 'AB'",
         col("price") * col("volume") > 1e6 && col("symbol") == "AB");
    same("a or b and not c = d", col("a") || (col("b") && !(col("c") == col("d"))));
    same("a - b - c * -2", col("a") - col("b") - col("c") * -2);
    same("a between 1 and 2 and b", col("a") >= 1 && col("a") <= 2 && col("b"));
    same("a in (1, 2, 3)", (col("a") == 1 || col("a") == 2) || col("a") == 3);
    same("a not in (1)", !(col("a") == 1));
    same("\"a b\" is not null", col("a b").is_not_null());
    same("\"and\" = 'it''s'", col("and") == "it's");
    same("cast(a as double precision)", col("a").as({Kind::float64}));
    same("a || b = c", concat(col("a"), col("b")) == col("c"));
    same("time < time '2026-01-31'", col("time") < EventTime::of_ns(1'769'817'600'000'000'000));
    same("((a))", col("a"));
}

TEST(ParseExpression, ErrorsNameTheColumn) {
    const auto fault = [](const std::string& text) -> std::string {
        try {
            (void)parse_expression(text);
            return "none: " + text;
        } catch (const ExpressionError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(fault("a >"), "column 4: expected a value, the text ends");
    EXPECT_EQ(fault("a > > b"), "column 5: expected a value, found \">\"");
    EXPECT_EQ(fault("a b"), "column 3: expected an operator or the end, found \"b\"");
    EXPECT_EQ(fault("(a"), "column 3: expected ), the text ends");
    EXPECT_EQ(fault("a = 'b"), "column 5: a text whose quote is not closed");
    EXPECT_EQ(fault("a ? b"), "column 3: \"?\" begins nothing");
    EXPECT_EQ(fault("12x"), "column 1: letters follow a number");
    EXPECT_EQ(fault("sin(a)"), "column 1: there is no function sin; there are: cast, coalesce");
    EXPECT_EQ(fault("cast(a as int65)"), "column 11: there is no type \"int65\"");
    EXPECT_EQ(fault("a = 99999999999999999999"), "column 5: 99999999999999999999: out of range");
    EXPECT_EQ(fault("time 'soon'").substr(0, 16), "column 6: 'soon'");
    EXPECT_EQ(fault("case a end"), "column 8: expected when, found \"end\"");
    EXPECT_EQ(fault(""), "column 1: expected a value, the text ends");
}

TEST(ParseExpression, HasLimits) {
    const std::string deep = std::string(100'000 / 2, '(') + "1";
    EXPECT_THROW((void)parse_expression(deep), ExpressionError);
    EXPECT_THROW((void)parse_expression(std::string(30'000, '-') + "1"), ExpressionError);
    std::string many = "a in (0";
    for (int i = 1; i != 5'000; ++i) many += ", " + std::to_string(i);
    const Expression in_many = parse_expression(many + ')');
    Evaluator evaluator(in_many, Schema({{"a", {Kind::int64}}}));
    EXPECT_THROW((void)parse_expression(std::string(70'000, ' ') + "1"), ExpressionError);
    Expression sum = 1;
    EXPECT_THROW(
        {
            for (int i = 0; i != 1'000; ++i) sum = sum + 1;
        },
        ExpressionError);
}

// A short text may stand for a tree without a bound, because `between`, `in` and `case` repeat what
// is before them; and so may an expression that is built of itself.
TEST(ParseExpression, RefusesPartsThatRepeatThemselves) {
    std::string between = "true";
    for (int i = 0; i != 60; ++i) between += " between false and true";
    EXPECT_THROW((void)parse_expression(between), ExpressionError);
    std::string choice = "b";
    for (int i = 0; i != 50; ++i) choice = "case " + choice + " when true then b when b then b end";
    EXPECT_THROW((void)parse_expression(choice), ExpressionError);
    std::string list = "b in (true, false)";
    for (int i = 0; i != 50; ++i) list = "(" + list + ") in (true, false)";
    EXPECT_THROW((void)parse_expression(list), ExpressionError);
    std::string texts = "'" + std::string(30'000, 't') + "' in (a";
    for (int i = 0; i != 15'000; ++i) texts += ",a";
    EXPECT_THROW((void)parse_expression(texts + ')'), ExpressionError);
    Expression sum = col("a");
    EXPECT_THROW(
        {
            for (int i = 0; i != 60; ++i) sum = sum + sum;
        },
        ExpressionError);
}

// Thousands of constants and of conditions that may have faults, in little memory and time.
TEST(ParseExpression, ReadsLongLists) {
    std::string list = "a in (a / b";
    for (int i = 0; i != 4'000; ++i) list += fmt::format(", 1+{}, a/b", i);
    const Schema schema({{"a", {Kind::int64}}, {"b", {Kind::int64}}});
    Evaluator evaluator(parse_expression(list + ')'), schema);
    ChunkMemory memory;
    const Chunk chunk =
        test::chunk_of(schema, {{Value(std::int64_t{3999}), Value(std::int64_t{3})}}, memory);
    EXPECT_EQ(evaluator.select(chunk).size(), 1);
}

// Every text is an expression or an error.
TEST(ParseExpression, SurvivesAnyText) {
    std::mt19937_64 random(strid::test::first_seed());
    const std::vector<std::string> pieces{
        "a",        "1",       "1.5",  "'t'",  "(",    ")",   ",",    "and",  "or",
        "not",      "case",    "when", "then", "else", "end", "cast", "as",   "int64",
        "coalesce", "between", "in",   "is",   "null", "+",   "-",    "*",    "/",
        "%",        "=",       "<",    "||",   "\"",   "'",   "time", "\xff", "decimal(2)"};
    std::size_t good = 0;
    for (int i = 0; i != 5'000; ++i) {
        std::string text;
        for (auto size = random() % 12; size != 0; --size) {
            text += pieces[random() % pieces.size()] + (random() % 4 == 0 ? "" : " ");
        }
        try {
            const Expression expression = parse_expression(text);
            ++good;
            EXPECT_EQ(parse_expression(expression.text()).text(), expression.text()) << text;
        } catch (const ExpressionError& error) {
            EXPECT_THAT(error.what(), HasSubstr("column ")) << text;
        }
    }
    EXPECT_GT(good, 100);
}

}  // namespace
}  // namespace strid::table
