// SPDX-License-Identifier: Apache-2.0
//
// Expressions over the columns of a table, as values: a tree that is built by operators of C++, or
// read from text, and does nothing by itself.
//
//     col("price") * col("volume") > 1e6 && col("symbol") == "AB"
//     parse_expression("price * volume > 1e6 and symbol = 'AB'")
//
// An Evaluator (evaluator.hpp) checks the types and computes the values.
//
// **Types.** Of two numbers of different types an int64 becomes what the other is, and a decimal
// becomes a float64. The sum of decimals has the larger scale, their product the sum of the scales;
// their quotient is a float64. The quotient of two integers is an integer, towards zero; the
// remainder has the sign of the dividend. `time - time` is an interval, `time + interval` a time;
// an interval may be added to another, and multiplied and divided by an integer. A literal NULL has
// the type that it meets; a literal text that meets a time or an interval is read as one.
//
// **NULL.** An operation on NULL is NULL; `and`, `or` and `not` have three values. `is null`,
// `coalesce` and `case` are the ways out.
//
// **Faults.** An integer, decimal, time or interval beyond its type, a division by zero and a text
// that cannot be cast are faults of a row (evaluator.hpp: OnFault). A comparison of numbers has
// none: each int64 and decimal is compared exactly, whatever its scale. A float64 follows IEEE 754
// otherwise. `case` and `coalesce` compute a value only for the rows that need it, and the right
// side of `and` and `or` only for rows that the left side leaves open, where it can have faults.
//
// Threads: any; copies share the tree.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// A text is no expression, or an expression does not fit the columns: what() names the place.
class ExpressionError : public GraphError {
  public:
    using GraphError::GraphError;
};

namespace detail {
struct ExpressionNode;
}  // namespace detail

/// One expression. Its functions take no longer than its size; they throw ExpressionError for a
/// tree of more than `depth_max` levels, or of more than `bytes_max`.
class Expression {
  public:
    /// Levels of a tree.
    static constexpr std::size_t depth_max = 400;
    /// Of a tree: 16 bytes for each operation, column and literal, and their names and texts. A
    /// part counts as often as it is repeated, which `between`, `in` and `case` do.
    static constexpr std::size_t bytes_max = std::size_t{4} << 20;

    /// NULL.
    Expression();
    /// A boolean.
    Expression(std::same_as<bool> auto value) : Expression(of_bool(value)) {}
    /// An integer. Throws ExpressionError beyond int64.
    template <std::integral T>
        requires(!std::same_as<T, bool> && !std::same_as<T, char>)
    Expression(T value)
        : Expression(std::in_range<std::int64_t>(value) ? of_int(static_cast<std::int64_t>(value))
                                                        : beyond_int64()) {}
    /// A float64. Throws ExpressionError for a number that is not finite.
    Expression(std::floating_point auto value) : Expression(of_double(value)) {}
    /// A text.
    Expression(std::string_view text);
    /// A text.
    Expression(const std::string& text) : Expression(std::string_view(text)) {}
    /// A text.
    Expression(const char* text) : Expression(std::string_view(text)) {}
    /// A time.
    Expression(EventTime time);
    /// An interval.
    Expression(Duration interval);

    /// Whether the value is NULL: never NULL itself.
    [[nodiscard]] Expression is_null() const;
    /// The opposite.
    [[nodiscard]] Expression is_not_null() const;
    /// The value as another type.
    [[nodiscard]] Expression as(Type type) const;

    /// As parse_expression() reads it.
    [[nodiscard]] std::string text() const;
    /// The names of its columns, each once, in the order in which they are found.
    [[nodiscard]] std::vector<std::string> columns() const;

    friend Expression operator+(const Expression& a, const Expression& b);
    friend Expression operator-(const Expression& a, const Expression& b);
    friend Expression operator*(const Expression& a, const Expression& b);
    friend Expression operator/(const Expression& a, const Expression& b);
    friend Expression operator%(const Expression& a, const Expression& b);
    friend Expression operator-(const Expression& a);
    friend Expression operator==(const Expression& a, const Expression& b);
    friend Expression operator!=(const Expression& a, const Expression& b);
    friend Expression operator<(const Expression& a, const Expression& b);
    friend Expression operator<=(const Expression& a, const Expression& b);
    friend Expression operator>(const Expression& a, const Expression& b);
    friend Expression operator>=(const Expression& a, const Expression& b);
    friend Expression operator&&(const Expression& a, const Expression& b);
    friend Expression operator||(const Expression& a, const Expression& b);
    friend Expression operator!(const Expression& a);

    /// The tree, for the library.
    [[nodiscard]] const detail::ExpressionNode& node() const noexcept { return *node_; }
    /// Of a tree of the library.
    explicit Expression(std::shared_ptr<const detail::ExpressionNode> node) noexcept
        : node_(std::move(node)) {}

  private:
    static Expression of_bool(bool value);
    static Expression of_int(std::int64_t value);
    static Expression of_double(double value);
    [[noreturn]] static Expression beyond_int64();

    std::shared_ptr<const detail::ExpressionNode> node_;
};

/// The value of a column.
[[nodiscard]] Expression col(std::string_view name);
/// The texts one behind the other.
[[nodiscard]] Expression concat(const Expression& a, const Expression& b);
/// The first value that is not NULL. Throws ExpressionError for no value at all.
[[nodiscard]] Expression coalesce(std::vector<Expression> values);

/// A condition of a `case` and the value behind it.
struct When {
    Expression condition;  ///< A boolean.
    Expression value;      ///< If the condition is true, and no earlier one is.
};
/// The value behind the first condition that is true, or the other. Throws ExpressionError without
/// a condition.
[[nodiscard]] Expression case_when(std::vector<When> branches, Expression otherwise = {});

/// An expression in the words of SQL: numbers, 'texts', true, false, null, time '2026-01-31
/// 10:00:00', interval '5m', columns by name or as "name", + - * / % ||, = <> < <= > >=, between,
/// in, is null, and, or, not, case, cast(x as type), coalesce. A number with a point is a decimal,
/// one with an exponent a float64. Throws ExpressionError, which names the place in the text by its
/// column from 1, for a text that is none, of more than 64 KiB, nested too deeply, or for a tree
/// beyond Expression::bytes_max. O(size).
[[nodiscard]] Expression parse_expression(std::string_view text);

}  // namespace strid::table
