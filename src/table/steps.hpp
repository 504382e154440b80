// SPDX-License-Identifier: Apache-2.0
//
// The compiled form of an expression: a tree of steps, each of which computes its values for the
// rows of a selection into a register of the frame, and says where they are.
//
// Invariant: where a step returns, the values and bits of the selected rows are set, a NULL of text
// is an empty view, and all other rows may hold anything that may be read. A register is written
// only when no step reads it any more.
//
// Threads: steps are constants; a frame belongs to one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <strid/memory/text_arena.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/evaluator.hpp>

#include "bits.hpp"
#include "kernels.hpp"

namespace strid::table::detail {

/// Values and, where some are NULL, their bits.
struct Vector {
    const void* values = nullptr;
    const std::uint64_t* validity = nullptr;  // null: no value is NULL
    bool is_constant = false;                 // the first value is that of every row

    [[nodiscard]] bool is_null(std::size_t row) const noexcept {
        return validity != nullptr && !is_set(validity, row);
    }
    [[nodiscard]] bool is_true(std::size_t row) const noexcept {
        return static_cast<const std::uint8_t*>(values)[row] != 0 && !is_null(row);
    }
};

struct alignas(64) Line {
    std::byte bytes[64];
};
/// Room for the values of a step.
struct Register {
    explicit Register(std::size_t value_bytes) : memory(chunk_rows_max * value_bytes / 64) {
        values = memory.data();
    }
    std::vector<Line> memory;  // all bytes are 0 at first
    void* values;              // in `memory`, or in a column
    Bits validity{};
};

using RowList = std::array<std::uint16_t, chunk_rows_max>;

struct Frame {
    const Chunk* chunk = nullptr;
    std::size_t words = 0;  // of the bits of its rows
    OnFault on_fault = OnFault::stop;
    std::vector<Register> registers;
    std::vector<RowList> lists;
    RowList selected;
    // Of texts that steps make. Blocks are held until the next evaluation.
    ChunkMemory memory{64};
    TextWriter texts{memory};
    std::vector<memory::TextReference> held;

    [[nodiscard]] char* text_room(std::size_t bytes) {
        char* const room = texts.room(bytes);
        if (held.empty() || held.back() != texts.block()) hold(texts.block());
        return room;
    }
    void hold(const memory::TextReference& text) {
        if (std::find(held.begin(), held.end(), text) == held.end()) held.push_back(text);
    }
};

class Step {
  public:
    Step() = default;
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    virtual ~Step() = default;
    [[nodiscard]] virtual Vector run(Frame& frame, const Selection& selection) const = 0;
};
using StepPointer = std::unique_ptr<Step>;

/// Where a step puts its values, and what messages name.
struct StepPlace {
    std::size_t result = 0;                // its register
    std::size_t list = 0;                  // its list of rows, and the next one
    const ExpressionNode* node = nullptr;  // the expression, for messages
    Type type;                             // of the values
};

/// Sets the bits of a result, so many words: those of both sides. Null: there are no NULLs.
[[nodiscard]] const std::uint64_t* both_valid(const Vector& a, const Vector& b, Bits& bits,
                                              std::size_t words) noexcept;
/// A fault of a row of a step, whose register's bits count from now on where they are to be
/// changed: throws EvaluationError, or makes the value NULL.
void take_fault(Frame& frame, const StepPlace& place, std::size_t row, const std::string& reason,
                const std::uint64_t*& validity);
/// The rows of the selection for which `is_one(row)` holds, in the list.
template <class IsOne>
[[nodiscard]] Selection listed(const Selection& selection, RowList& list, const IsOne& is_one) {
    std::size_t count = 0;
    selection.each([&](std::size_t row) {
        list[count] = static_cast<std::uint16_t>(row);
        count += is_one(row) ? 1 : 0;
    });
    return {list.data(), count};
}

[[nodiscard]] StepPointer column_step(std::size_t column);
/// A value of this type, or NULL; as a vector of equal values, or as a constant.
[[nodiscard]] StepPointer constant_step(Type type, const Vector& value, bool as_vector);
/// Arithmetic, or a comparison; the kernel is that of the type of `a`.
[[nodiscard]] StepPointer binary_step(StepPlace place, Operation operation, Type a_type,
                                      StepPointer a, Type b_type, StepPointer b);
/// Integers by a constant that is neither 0 nor -1: a quotient or a remainder.
[[nodiscard]] StepPointer division_step(StepPlace place, Operation operation, std::int64_t divisor,
                                        StepPointer part);
/// `and`, `or`; the right side only for rows that the left leaves open, if `is_lazy`.
[[nodiscard]] StepPointer logic_step(StepPlace place, Operation operation, bool is_lazy,
                                     StepPointer a, StepPointer b);
[[nodiscard]] StepPointer negation_step(StepPlace place, StepPointer part);
[[nodiscard]] StepPointer null_test_step(StepPlace place, bool is_null, StepPointer part);
[[nodiscard]] StepPointer case_step(StepPlace place, std::vector<StepPointer> parts);
[[nodiscard]] StepPointer coalesce_step(StepPlace place, std::vector<StepPointer> parts);
[[nodiscard]] StepPointer concat_step(StepPlace place, StepPointer a, StepPointer b);
/// `is_compared`: a number that is beyond a decimal becomes one that is larger than all in size.
[[nodiscard]] StepPointer cast_step(StepPlace place, Type from, bool is_compared, StepPointer part);
/// Whether a cast may have faults.
[[nodiscard]] bool may_cast_fail(Type from, Type to, bool is_compared) noexcept;

}  // namespace strid::table::detail
