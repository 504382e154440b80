// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/base/assert.hpp>
#include <strid/table/evaluator.hpp>

#include "program.hpp"

namespace strid::table {

namespace {

/// The rows whose bits are set, ascending. Whole words are written at once.
std::size_t list_rows(const Bits& bits, std::size_t words, std::uint16_t* rows) noexcept {
    std::size_t count = 0;
    for (std::size_t word = 0; word != words; ++word) {
        const auto first = static_cast<std::uint16_t>(word * 64);
        std::uint64_t left = bits[word];
        if (left == ~std::uint64_t{0}) {
            for (std::uint16_t i = 0; i != 64; ++i) {
                rows[count + i] = static_cast<std::uint16_t>(first + i);
            }
            count += 64;
            continue;
        }
        for (; left != 0; left &= left - 1) {
            rows[count++] = static_cast<std::uint16_t>(first + std::countr_zero(left));
        }
    }
    return count;
}

void fill(Column& column, Kind kind, const void* value, std::size_t rows) {
    const std::size_t bytes = value_bytes(kind);
    char* const to = column.values<char>();
    for (std::size_t row = 0; row != rows; ++row) std::memcpy(to + row * bytes, value, bytes);
}

}  // namespace

Evaluator::Evaluator(const Expression& expression, const Schema& schema, OnFault on_fault)
    : program_(std::make_shared<const detail::Program>(expression, schema, on_fault)),
      frame_(program_->frame()) {}
Evaluator::Evaluator(const Evaluator& other)
    : program_(other.program_), frame_(program_->frame()) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(const Evaluator& other) {
    program_ = other.program_;
    frame_ = program_->frame();
    return *this;
}
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Type Evaluator::type() const noexcept {
    return program_->type;
}

std::span<const memory::TextReference> Evaluator::texts() const noexcept {
    return frame_->held;
}

std::span<const std::uint16_t> Evaluator::select(const Chunk& chunk) {
    if (program_->type.kind != Kind::boolean) {
        throw ExpressionError(
            fmt::format("a condition is {}, and has to be bool", name_of(program_->type)));
    }
    const std::size_t rows = chunk.rows();
    const std::size_t words = words_for(rows);
    detail::Frame& frame = *frame_;
    frame.held.clear();
    frame.chunk = &chunk;
    frame.words = words;
    if (rows == 0) return {};
    const detail::Vector found = program_->root->run(frame, {nullptr, rows});
    Bits bits;
    if (program_->is_constant) {
        bits.fill(found.is_true(0) ? ~std::uint64_t{0} : 0);
        bits[words - 1] &= last_word(rows);
    } else {
        bits_of_bytes(static_cast<const std::uint8_t*>(found.values), rows, bits.data());
        if (found.validity != nullptr) {
            for (std::size_t i = 0; i != words; ++i) bits[i] &= found.validity[i];
        }
    }
    return {frame.selected.data(), list_rows(bits, words, frame.selected.data())};
}

Column Evaluator::evaluate(const Chunk& chunk, ChunkMemory& memory) {
    detail::Frame& frame = *frame_;
    frame.held.clear();
    if (program_->is_column) return chunk.column(program_->column);
    const std::size_t rows = chunk.rows();
    Column column = memory.column(program_->type.kind, rows);
    if (rows == 0) return column;
    frame.chunk = &chunk;
    frame.words = words_for(rows);
    if (program_->is_constant) {
        const detail::Vector value = program_->root->run(frame, {nullptr, rows});
        fill(column, program_->type.kind, value.values, rows);
        if (value.is_null(0)) {
            std::fill_n(column.validity(), words_for(column.capacity()), std::uint64_t{0});
            column.set_nulls(true);
        }
        return column;
    }
    // The last step writes into the column itself.
    detail::Register& result = frame.registers[program_->root_register];
    void* const own = std::exchange(result.values, column.values<void>());
    detail::Vector found;
    try {
        found = program_->root->run(frame, {nullptr, rows});
    } catch (...) {
        result.values = own;
        throw;
    }
    result.values = own;
    STRID_ASSERT(found.values == column.values<void>());
    if (found.validity != nullptr && !all_set(found.validity, rows)) {
        std::copy_n(found.validity, frame.words, column.validity());
        column.validity()[frame.words - 1] &= last_word(rows);
        column.set_nulls(true);
    }
    return column;
}

}  // namespace strid::table
