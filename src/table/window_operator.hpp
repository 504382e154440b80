// SPDX-License-Identifier: Apache-2.0
//
// The parts that windows of every kind have: keys, aggregates, the rows of a chunk on their
// way into states, and results on their way out. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <strid/table/chunk.hpp>
#include <strid/table/window.hpp>

#include "aggregates.hpp"
#include "group_table.hpp"
#include "key_rows.hpp"

namespace strid::table {

/// The column of times, which must be there. Throws GraphError.
[[nodiscard]] std::size_t time_column(const std::string& name, const Schema& schema);
/// Leaves out rows without a time, or throws EvaluationError, as `on_fault` says.
void require_times(Chunk& chunk, std::size_t column, OnFault on_fault, ChunkMemory& memory);

/// Rows that leave the others.
class LateRows {
  public:
    /// Hands these rows to the output, and keeps the others. Ascending lists of all rows.
    static void part(Chunk& chunk, std::span<const std::uint16_t> late,
                     std::span<const std::uint16_t> kept, ChunkMemory& memory, ChunkOutput& output);
};

class WindowOperator : public TableOperator {
  public:
    WindowOperator(const WindowSpec& spec, const Schema& schema, OnFault on_fault);

    std::string_view kind() const noexcept override { return "window"; }
    std::string text() const override { return text_; }
    const Schema& output() const noexcept override { return output_; }
    bool needs_all_rows() const noexcept override { return true; }
    std::unique_ptr<TableOperator> copy() const override {
        return windowed(spec_, input_, on_fault_);
    }

  protected:
    static constexpr std::size_t no_time = std::numeric_limits<std::size_t>::max();

    /// Keys and hashes of the rows.
    void read_keys(const Chunk& chunk);
    [[nodiscard]] const std::uint64_t* key_of(std::size_t row) const noexcept {
        return row_keys_.data() + row * keys_->words();
    }
    /// A row of the results; texts are copied. A full chunk is sent.
    void give(const std::uint64_t* key, std::int64_t start, std::int64_t end,
              const std::byte* state, ChunkOutput& output);
    /// Sends the results that wait.
    void send(ChunkOutput& output);

    WindowSpec spec_;
    Schema input_;
    OnFault on_fault_;
    std::shared_ptr<const KeyRows> keys_;
    Aggregates aggregates_;
    std::size_t time_ = no_time;
    ChunkMemory memory_;

    // Of the rows of a chunk.
    std::vector<std::uint64_t> row_keys_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::int64_t> places_;
    std::vector<Group*> groups_;
    std::vector<std::byte*> states_;
    std::vector<std::uint16_t> late_;
    std::vector<std::uint16_t> kept_;

  private:
    Schema output_;
    std::string text_;
    Chunk results_;
    TextWriter texts_{memory_};
};

/// The three kinds, as windowed().
[[nodiscard]] std::unique_ptr<TableOperator> time_windowed(const WindowSpec& spec,
                                                           const Schema& schema, OnFault on_fault);
[[nodiscard]] std::unique_ptr<TableOperator> session_windowed(const WindowSpec& spec,
                                                              const Schema& schema,
                                                              OnFault on_fault);
[[nodiscard]] std::unique_ptr<TableOperator> count_windowed(const WindowSpec& spec,
                                                            const Schema& schema, OnFault on_fault);

}  // namespace strid::table
