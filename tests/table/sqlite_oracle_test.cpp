// SPDX-License-Identifier: Apache-2.0
//
// Random expressions with types over random rows with NULLs: the answers are those of SQLite, which
// is given the text of the expression.
//
// Left out are expressions of which SQLite has another opinion than the standard, or than this
// library. Integers beyond 2^53: it goes on with doubles. Remainders of doubles: it takes whole
// numbers. Casts that round, or that read text: it cuts, and reads what it can. Texts of doubles
// and booleans: it writes 1.0 and 1. It has no times, intervals and decimals. A division by zero is
// NULL in it, as with OnFault::null.
#include <gtest/gtest.h>

#ifdef STRID_HAS_SQLITE

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <strid/table/evaluator.hpp>
#include <strid/table/expression.hpp>

#include "../support/seeds.hpp"
#include "sqlite_database.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using test::Database;
using test::Row;
using test::Value;

/// Makes expressions whose integers are within a bound.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    static Schema schema() {
        return Schema({{"b0", {Kind::boolean}},
                       {"b1", {Kind::boolean}},
                       {"i0", {Kind::int64}},
                       {"i1", {Kind::int64}},
                       {"f0", {Kind::float64}},
                       {"f1", {Kind::float64}},
                       {"t0", {Kind::text}},
                       {"t1", {Kind::text}}});
    }

    struct Made {
        Expression expression;
        double bound = 0;  // of the size of a number
    };

    Made make(Kind kind, unsigned levels) {
        if (levels == 0 || below(6) == 0) return leaf(kind);
        switch (below(8)) {
            case 0:
                return make_case(kind, levels);
            case 1: {
                const Made a = make(kind, levels - 1);
                const Made b = make(kind, levels - 1);
                return {coalesce({a.expression, b.expression}), std::max(a.bound, b.bound)};
            }
            default:
                break;
        }
        switch (kind) {
            case Kind::boolean:
                return make_truth(levels);
            case Kind::text:
                return make_text(levels);
            default:
                return make_number(kind, levels);
        }
    }
    std::mt19937_64& random() { return random_; }

  private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    Kind any_kind() {
        constexpr std::array kinds_made{Kind::boolean, Kind::int64, Kind::float64, Kind::text};
        return kinds_made[below(kinds_made.size())];
    }

    Made leaf(Kind kind) {
        if (below(12) == 0) return {Expression(), 1};
        const bool is_column = below(3) != 0;
        const std::string number = below(2) == 0 ? "0" : "1";
        switch (kind) {
            case Kind::boolean:
                return {is_column ? col("b" + number) : Expression(below(2) == 0)};
            case Kind::int64:
                return {is_column ? col("i" + number)
                                  : Expression(static_cast<std::int64_t>(below(9)) - 3),
                        100};
            case Kind::float64:
                return {is_column ? col("f" + number)
                                  : Expression(static_cast<double>(below(30)) / 8 - 1),
                        125};
            default:
                return {is_column ? col("t" + number) : Expression(below(2) == 0 ? "ab" : "")};
        }
    }

    Made make_case(Kind kind, unsigned levels) {
        std::vector<When> branches;
        double bound = 0;
        for (auto count = 1 + below(2); count != 0; --count) {
            Made value = make(kind, levels - 1);
            bound = std::max(bound, value.bound);
            branches.push_back({make(Kind::boolean, levels - 1).expression, value.expression});
        }
        const Made other = make(kind, levels - 1);
        return {case_when(std::move(branches), other.expression), std::max(bound, other.bound)};
    }

    Made make_truth(unsigned levels) {
        const auto truth = [&] { return make(Kind::boolean, levels - 1).expression; };
        switch (below(6)) {
            case 0:
                return {truth() && truth()};
            case 1:
                return {truth() || truth()};
            case 2:
                return {!truth()};
            case 3: {
                const Expression part = make(any_kind(), levels - 1).expression;
                return {below(2) == 0 ? part.is_null() : part.is_not_null()};
            }
            default:
                return make_comparison(levels);
        }
    }

    Made make_comparison(unsigned levels) {
        Kind left = any_kind();
        Kind right = left;
        if (left == Kind::int64 && below(3) == 0) right = Kind::float64;
        const Expression a = make(left, levels - 1).expression;
        const Expression b = make(right, levels - 1).expression;
        switch (below(6)) {
            case 0:
                return {a == b};
            case 1:
                return {a != b};
            case 2:
                return {a < b};
            case 3:
                return {a <= b};
            case 4:
                return {a > b};
            default:
                return {a >= b};
        }
    }

    Made make_number(Kind kind, unsigned levels) {
        const bool is_int = kind == Kind::int64;
        if (is_int && below(8) == 0) {
            return {make(Kind::boolean, levels - 1).expression.as({Kind::int64}), 1};
        }
        if (!is_int && below(8) == 0) {
            const Made part = make(Kind::int64, levels - 1);
            return {part.expression.as({Kind::float64}), part.bound};
        }
        const Made a = make(kind, levels - 1);
        const Made b = make(!is_int && below(4) == 0 ? Kind::int64 : kind, levels - 1);
        switch (below(is_int ? 5 : 4)) {
            case 0:
                return {a.expression + b.expression, a.bound + b.bound};
            case 1:
                return {a.expression - b.expression, a.bound + b.bound};
            case 2:
                if (a.bound * b.bound < 0x1p50) {
                    return {a.expression * b.expression, a.bound * b.bound};
                }
                return {-a.expression, a.bound};
            case 3:
                return {a.expression / b.expression, is_int ? a.bound : a.bound * 8};
            default:
                return {a.expression % b.expression, a.bound};
        }
    }

    Made make_text(unsigned levels) {
        if (below(4) == 0) return {make(Kind::int64, levels - 1).expression.as({Kind::text})};
        return {concat(make(Kind::text, levels - 1).expression,
                       make(Kind::text, levels - 1).expression)};
    }

    std::mt19937_64 random_;
};

std::string shown(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return "NULL";
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
    return '\'' + std::get<std::string>(value) + '\'';
}

TEST(TableExpressions, AnswerAsSqlite) {
    constexpr std::size_t expressions_of_seed = 60;
    std::size_t with_nulls = 0;
    std::size_t values_seen = 0;
    for (const auto seed : strid::test::seeds(40)) {
        Generator generator(seed);
        const Schema schema = Generator::schema();
        const std::size_t count = 1 + generator.random()() % (seed % 4 == 0 ? 300 : 64);
        const auto rows = test::random_rows(schema, count, generator.random(), seed % 3 * 4);
        ChunkMemory memory;
        const Chunk chunk = test::chunk_of(schema, rows, memory);
        Database database;
        database.make_table(schema, rows);
        for (std::size_t i = 0; i != expressions_of_seed; ++i) {
            constexpr std::array kinds_asked{Kind::boolean, Kind::int64, Kind::float64, Kind::text};
            const Kind kind = kinds_asked[i % kinds_asked.size()];
            const Expression expression =
                generator.make(kind, static_cast<unsigned>(1 + i % 5)).expression;
            const Expression parsed = parse_expression(expression.text());
            ASSERT_EQ(parsed.text(), expression.text());
            Evaluator evaluator(i % 2 == 0 ? parsed : expression, schema, OnFault::null);
            const auto expected = database.answers(expression.text(), evaluator.type().kind);
            Chunk answer(Schema({{"answer", evaluator.type()}}), 1, count);
            answer.column(0) = evaluator.evaluate(chunk, memory);
            ASSERT_EQ(expected.size(), count);
            for (std::size_t row = 0; row != count; ++row) {
                const Value value = test::value_at(answer, 0, row);
                ASSERT_EQ(value, expected[row])
                    << expression.text() << "\nrow " << row << ": " << shown(value)
                    << ", and SQLite has " << shown(expected[row]) << "; seed " << seed;
                with_nulls += std::holds_alternative<std::monostate>(value) ? 1 : 0;
                ++values_seen;
            }
            if (evaluator.type().kind != Kind::boolean) continue;
            std::vector<std::uint16_t> chosen;
            for (std::size_t row = 0; row != count; ++row) {
                if (expected[row] == Value(true)) chosen.push_back(static_cast<std::uint16_t>(row));
            }
            const auto selected = evaluator.select(chunk);
            ASSERT_EQ(std::vector(selected.begin(), selected.end()), chosen) << expression.text();
        }
    }
    EXPECT_GT(with_nulls, values_seen / 20);
    EXPECT_LT(with_nulls, values_seen * 4 / 5);
}

}  // namespace
}  // namespace strid::table

#endif
