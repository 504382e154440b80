// SPDX-License-Identifier: Apache-2.0
//
// The values of a window's aggregates as fields of CSV. Stateless; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates/moments.hpp>
#include <strid/window/spec.hpp>

#include "number_cells.hpp"
#include "table_plan.hpp"
#include "table_sketch.hpp"

namespace strid::tool {

/// The text that append_results() wrote, where a result is no plain state.
class TableResult {
  public:
    TableResult() = default;
    explicit TableResult(std::string_view text) : text_(text) {}
    [[nodiscard]] std::string_view text() const noexcept { return text_; }

  private:
    std::basic_string<char, std::char_traits<char>, memory::RecyclingAllocator<char>> text_;
};

/// A cell that lies in the words of a state; a type that may alias them.
template <class Cell, class Words>
[[nodiscard, gnu::always_inline]] inline auto& cell_in(Words& words, const TableCell& at) {
    using Shown = std::conditional_t<std::is_const_v<Words>, const Cell, Cell>;
    return reinterpret_cast<Shown&>(words[at.word]);
}
/// A cell of any other type, as a value.
template <class Cell, class Words>
[[nodiscard]] Cell cell_at(const Words& words, const TableCell& at) {
    std::array<std::uint64_t, sizeof(Cell) / sizeof(std::uint64_t)> part;
    std::copy_n(words.begin() + at.word, part.size(), part.begin());
    return std::bit_cast<Cell>(part);
}
template <class Cell, class Words>
void put_cell(Words& words, const TableCell& at, const Cell& cell) {
    const auto part =
        std::bit_cast<std::array<std::uint64_t, sizeof(Cell) / sizeof(std::uint64_t)>>(cell);
    std::copy_n(part.begin(), part.size(), words.begin() + at.word);
}

/// The length of a window of time.
[[nodiscard]] inline double seconds_of(const window::TimeBounds& bounds) noexcept {
    return std::chrono::duration<double>(bounds.end - bounds.start).count();
}
/// Windows of a number of records have none, and nothing asks for it.
[[nodiscard]] inline double seconds_of(const window::CountBounds& /*bounds*/) noexcept {
    return std::numeric_limits<double>::quiet_NaN();
}

inline void append_of_total(std::string& out, AggregateKind kind, const NumberTotal& total,
                            double seconds) {
    if (kind == AggregateKind::count) return append_integer(out, total.count());
    if (total.count() == 0) return;
    if (kind == AggregateKind::sum && total.is_integer()) return append_integer(out, total.wide());
    const double value = kind == AggregateKind::mean  ? total.mean()
                         : kind == AggregateKind::sum ? total.sum()
                                                      : total.sum() / seconds;
    detail::append_csv_value(out, value, ',');
}

/// One aggregate of those that are read from the words of a state; nothing where it has no value.
template <class Words>
void append_plain_result(std::string& out, AggregateKind kind, const Words& words,
                         const TableCell& at, double seconds) {
    switch (at.kind) {
        case CellKind::rows:
        case CellKind::present:
            if (kind == AggregateKind::rate_of_rows) {
                detail::append_csv_value(out, static_cast<double>(words[at.word]) / seconds, ',');
            } else {
                append_integer(out, words[at.word]);
            }
            break;
        case CellKind::total:
            append_of_total(out, kind, cell_in<NumberTotal>(words, at), seconds);
            break;
        case CellKind::minimum:
        case CellKind::maximum: {
            const auto& extreme = cell_in<NumberExtreme>(words, at);
            if (!extreme.is_empty()) append_number(out, extreme.number());
            break;
        }
        default: {
            const auto moments = cell_at<window::Moments>(words, at);
            if (moments.count() < 2) break;
            const bool squared = kind == AggregateKind::variance;
            detail::append_csv_value(out, squared ? moments.variance() : moments.deviation(), ',');
            break;
        }
    }
}

inline void append_sketch_result(std::string& out, const TableAggregateItem& item,
                                 const TableSketch& sketch, std::size_t length) {
    std::visit(
        [&]<class Sketch>(const Sketch& kept) {
            if constexpr (std::is_same_v<Sketch, window::TDigest>) {
                if (kept.count() == 0) return;
                detail::append_csv_value(out, kept.quantile(item.q), ',');
            } else if constexpr (std::is_same_v<Sketch, TextHashes>) {
                append_integer(out, kept.size());
            } else if constexpr (std::is_same_v<Sketch, TextEstimate>) {
                detail::append_csv_value(out, std::round(kept.estimate()), ',');
            } else if constexpr (std::is_same_v<Sketch, FrequentTexts>) {
                kept.append(out, length);
            } else {
                kept.append(out);
            }
        },
        sketch);
}

/// All of them in order, a comma before each.
template <class Bounds, class State>
void append_results(std::string& out, const TablePlan& plan, const Bounds& bounds,
                    const State& state) {
    for (const TableAggregateItem& item : plan.items) {
        out += ',';
        const TableCell& cell = plan.cells[item.cell];
        if (!is_sketch(cell.kind)) {
            append_plain_result(out, item.kind, state.words, cell, seconds_of(bounds));
        } else if constexpr (requires { state.sketches; }) {
            append_sketch_result(out, item, state.sketches[cell.sketch], cell.length);
        }
    }
}
template <class Bounds>
void append_results(std::string& out, const TablePlan& /*plan*/, const Bounds& /*bounds*/,
                    const TableResult& done) {
    out += done.text();
}

}  // namespace strid::tool
