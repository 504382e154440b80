// SPDX-License-Identifier: Apache-2.0
//
// The values of a window's aggregates as fields of CSV. Stateless; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <strid/window/spec.hpp>

#include "table_plan.hpp"
#include "table_state.hpp"

namespace strid::tool {

/// A cell that lies in the words of a state; a type that may alias them.
template <class Cell, class Word>
[[nodiscard, gnu::always_inline]] inline auto& cell_in(Word* words, const TableCell& at) {
    using Shown = std::conditional_t<std::is_const_v<Word>, const Cell, Cell>;
    return reinterpret_cast<Shown&>(words[at.word]);
}
/// A cell of any other type, as a value.
template <class Cell>
[[nodiscard]] Cell cell_at(const std::uint64_t* words, const TableCell& at) {
    std::array<std::uint64_t, sizeof(Cell) / sizeof(std::uint64_t)> part;
    std::copy_n(words + at.word, part.size(), part.begin());
    return std::bit_cast<Cell>(part);
}
template <class Cell>
void put_cell(std::uint64_t* words, const TableCell& at, const Cell& cell) {
    const auto part =
        std::bit_cast<std::array<std::uint64_t, sizeof(Cell) / sizeof(std::uint64_t)>>(cell);
    std::copy_n(part.begin(), part.size(), words + at.word);
}

/// The length of a window of time.
[[nodiscard]] inline double seconds_of(const window::TimeBounds& bounds) noexcept {
    return std::chrono::duration<double>(bounds.end - bounds.start).count();
}
/// Windows of a number of records have none, and nothing asks for it.
[[nodiscard]] inline double seconds_of(const window::CountBounds& /*bounds*/) noexcept {
    return std::numeric_limits<double>::quiet_NaN();
}

/// The result of a window of so many seconds: the state itself, which is written where results are;
/// with sketches, which are larger than their values, the text of these.
[[nodiscard]] TableState result_of(const TablePlan& plan, double seconds, const TableState& state);
/// Appends the values of such a result in order, a comma before each.
void append_result(std::string& out, const TablePlan& plan, double seconds,
                   const TableState& result);

}  // namespace strid::tool
