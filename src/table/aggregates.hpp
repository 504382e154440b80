// SPDX-License-Identifier: Apache-2.0
//
// The aggregates of a window over states that lie one behind the other in a record. A state of
// zeros is that of no row. Rows of a chunk are added column by column, in a loop for each
// aggregate. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strid/state/bytes.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/window.hpp>

namespace strid::table {

struct AggregateKernel;

/// The value of an aggregate, or of a column.
struct AggregateValue {
    bool is_null = false;
    bool is_beyond = false;  // its type
    std::uint64_t word = 0;
    std::string_view text = {};
};

/// Rows whose values are added.
struct RowsToAdd {
    const Chunk& chunk;
    std::size_t first;         // row
    std::size_t count;         // of rows
    std::byte* const* states;  // of the first row, and of those behind
    const std::int64_t* times;
};

class Aggregates {
  public:
    /// Throws GraphError as windowed().
    Aggregates(const std::vector<Aggregate>& aggregates, const Schema& schema, OnFault on_fault);

    /// Of all states, a multiple of 8.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Of the results.
    [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }

    /// Adds rows to their states.
    void add(const RowsToAdd& rows) const;
    /// Adds what another state has; of equal times the rows of `into` are older.
    void combine(std::byte* into, const std::byte* from) const;
    /// Frees what the state owns. It is one of zeros then.
    void release(std::byte* state) const noexcept;

    /// Bytes of texts among the values.
    [[nodiscard]] std::size_t text_bytes(const std::byte* state) const;
    /// Writes the values to the columns of a row from `column` on. Throws EvaluationError.
    void write(const std::byte* state, Chunk& chunk, std::size_t column, std::size_t row,
               char*& to) const;
    void save(StateWriter& writer, const std::byte* state) const;
    /// Into a state of zeros. Throws StateError.
    void load(StateReader& reader, std::byte* state) const;

  private:
    struct One {
        const AggregateKernel* kernel;
        std::size_t column;  // none: rows are counted
        std::size_t offset;
        Type type;  // of the column
        double fraction;
    };

    std::vector<One> all_;
    std::vector<Field> fields_;
    std::vector<std::string> texts_;  // of the aggregates
    std::size_t bytes_ = 0;
    bool has_owners_ = false;
    bool has_texts_ = false;
    OnFault on_fault_;
};

}  // namespace strid::table
