// SPDX-License-Identifier: Apache-2.0
//
// An expression that is ready to be computed for chunks of a schema.
//
// The types are checked once, constants are computed once, and each operation becomes a kernel: one
// loop over the values of the chunk (src/table/kernels.hpp). Kernels hand
// vectors to each other in registers of 2,048 values, which are reused as soon as they are read. A
// virtual call is made per chunk and operation, and none per row.
//
// Threads: one at a time for each evaluator. A copy shares what was compiled, and has registers of
// its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <strid/base/error.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/expression.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// The effect of a fault of a row: a value beyond its type, a division by zero, a text that cannot
/// be cast.
enum class OnFault : std::uint8_t {
    stop,  ///< An EvaluationError ends the computation.
    null   ///< The value is NULL.
};

/// A row has a fault: what() has the operation, its values and the row in its chunk.
class EvaluationError : public Error {
  public:
    using Error::Error;
};

namespace detail {
class Program;
struct Frame;
}  // namespace detail

/// A checked and compiled expression.
class Evaluator {
  public:
    /// Throws ExpressionError for an expression that does not fit the schema. O(size).
    Evaluator(const Expression& expression, const Schema& schema, OnFault on_fault = OnFault::stop);
    /// Shares what was compiled.
    Evaluator(const Evaluator& other);
    /// The other may only be destroyed or assigned to.
    Evaluator(Evaluator&&) noexcept;
    Evaluator& operator=(const Evaluator& other);
    Evaluator& operator=(Evaluator&&) noexcept;
    ~Evaluator();

    /// Of the values.
    [[nodiscard]] Type type() const noexcept;
    /// The rows for which a boolean expression is true, ascending: neither those for which it is
    /// false nor those for which it is NULL. Valid until the next call. The chunk has the schema.
    /// Throws EvaluationError.
    [[nodiscard]] std::span<const std::uint16_t> select(const Chunk& chunk);
    /// The values of all rows, in a block of `memory`. The column that an expression only names is
    /// shared with the chunk. Texts lie in arenas of the chunk, and in those of texts(). Throws
    /// EvaluationError.
    [[nodiscard]] Column evaluate(const Chunk& chunk, ChunkMemory& memory);
    /// After evaluate(), until the next call: where texts lie that are not the chunk's.
    [[nodiscard]] std::span<const memory::TextReference> texts() const noexcept;

  private:
    std::shared_ptr<const detail::Program> program_;
    std::unique_ptr<detail::Frame> frame_;
};

}  // namespace strid::table
