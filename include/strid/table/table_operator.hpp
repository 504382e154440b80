// SPDX-License-Identifier: Apache-2.0
//
// The operators of tables: what they do is decided when the program runs, so they are compiled once
// and called by virtual functions, once for a chunk. A graph has them by one adapter (step.hpp),
// which implements the engine's contract for all of them.
//
// Threads: one at a time for each operator; a replica has a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/state/bytes.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/evaluator.hpp>
#include <strid/table/expression.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// Takes the chunks that an operator makes.
class ChunkOutput {
  public:
    virtual ~ChunkOutput() = default;
    /// Takes the chunk.
    virtual void emit(Chunk&& chunk) = 0;
    /// Takes rows that came too late, with the schema that arrived. Without another way for them
    /// they are dropped.
    virtual void late(Chunk&& rows) { static_cast<void>(rows); }
    /// Whether there is room for more. Chunks that `process` emits need not ask.
    [[nodiscard]] virtual bool room() { return true; }
};

/// An operator over chunks of one schema.
class TableOperator {
  public:
    TableOperator() = default;
    virtual ~TableOperator() = default;
    TableOperator& operator=(const TableOperator&) = delete;

    /// A word for reports: `filter`.
    [[nodiscard]] virtual std::string_view kind() const noexcept = 0;
    /// For explain(): `filter price > 100`.
    [[nodiscard]] virtual std::string text() const = 0;
    /// The columns of the chunks that it emits.
    [[nodiscard]] virtual const Schema& output() const noexcept = 0;
    /// The same for another replica, without state.
    [[nodiscard]] virtual std::unique_ptr<TableOperator> copy() const = 0;
    /// Handles a chunk, which has rows and which it may change or emit, and emits any number of
    /// chunks. Throws EvaluationError.
    virtual void process(Chunk&& chunk, ChunkOutput& output) = 0;
    /// No row with an event time before `watermark` follows, except late ones; watermarks never go
    /// back. Emits what is complete. False: there was no room for all of it, and the call comes
    /// again with the same or a later one.
    virtual bool watermark(EventTime watermark, ChunkOutput& output) {
        static_cast<void>(watermark);
        static_cast<void>(output);
        return true;
    }
    /// No row follows. Emits what it holds; false as above.
    virtual bool ended(ChunkOutput& output) {
        static_cast<void>(output);
        return true;
    }
    /// The watermark of the rows that it emits, where that of the rows that arrive is `arrived`.
    [[nodiscard]] virtual EventTime passed(EventTime arrived) const noexcept { return arrived; }
    /// Whether passed() is its own, whatever arrives: `event_time`.
    [[nodiscard]] virtual bool draws_time() const noexcept { return false; }
    /// Whether it must see all rows, so that it has one replica.
    [[nodiscard]] virtual bool needs_all_rows() const noexcept { return false; }
    /// Writes what decides about later output (strid/state/codec.hpp). Without state: nothing.
    virtual void save(StateWriter& writer) const { static_cast<void>(writer); }
    /// Reads it into an operator that was made with the same arguments. Throws StateError.
    virtual void load(StateReader& reader) { static_cast<void>(reader); }

  protected:
    TableOperator(const TableOperator&) = default;
};

/// Rows for which the condition is true, with the columns of these names; with all where there are
/// no names. Throws ExpressionError for a condition that is no boolean of the schema, and
/// GraphError for another name.
[[nodiscard]] std::unique_ptr<TableOperator> filter(const Expression& condition,
                                                    const Schema& schema,
                                                    const std::vector<std::string>& columns = {},
                                                    OnFault on_fault = OnFault::stop);

/// A column that is computed.
struct Computed {
    std::string name;       ///< In the schema that comes out.
    Expression expression;  ///< Over the columns that arrive.
};
/// Rows with these columns. Throws ExpressionError for an expression that does not fit the schema,
/// and GraphError for names that are none, or there twice.
[[nodiscard]] std::unique_ptr<TableOperator> project(const std::vector<Computed>& columns,
                                                     const Schema& schema,
                                                     OnFault on_fault = OnFault::stop);

/// The first rows, so many.
[[nodiscard]] std::unique_ptr<TableOperator> limit(std::uint64_t rows, const Schema& schema);

}  // namespace strid::table
