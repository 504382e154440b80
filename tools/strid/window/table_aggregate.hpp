// SPDX-License-Identifier: Apache-2.0
//
// All aggregates of the list at once; an Aggregate of window/aggregates/aggregate.hpp. A state is a
// few words with the cells that the plan has laid out in them, one behind the other, and the
// sketches of a wide table. The result of a narrow one is the state itself, that of a wide one the
// text of its aggregates (table_results.hpp).
//
// Threads: as any aggregate, each replica has its own; the plan is shared and constant.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates/moments.hpp>

#include "number_cells.hpp"
#include "table_results.hpp"
#include "table_row.hpp"
#include "table_sketch.hpp"

namespace strid::tool {

template <class Table>
class TableAggregate {
  public:
    using Row = TableRow<typename Table::Rows>;
    using Words = std::array<std::uint64_t, Table::state_words>;
    struct NarrowState {
        Words words;
    };
    struct WideState {
        Words words;
        // None where nothing asked for needs one.
        std::vector<TableSketch, memory::RecyclingAllocator<TableSketch>> sketches;
    };
    using State = std::conditional_t<Table::is_wide, WideState, NarrowState>;

    explicit TableAggregate(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] State identity() const {
        State state{};
        if constexpr (Table::is_wide) {
            state.sketches.reserve(plan_->sketches);
            for (const TableCell& cell : plan_->cells) {
                if (is_sketch(cell.kind)) state.sketches.push_back(new_sketch(cell));
            }
        }
        return state;
    }
    [[nodiscard]] State lift(const Row& row) const {
        State state = identity();
        add(state, row);
        return state;
    }

    void add(State& state, const Row& row) const {
        for (const TableCell& cell : plan_->cells) {
            if (cell.kind == CellKind::rows) {
                ++state.words[cell.word];
                continue;
            }
            if (!row.has(cell.value)) continue;
            switch (cell.kind) {
                case CellKind::present:
                    ++state.words[cell.word];
                    break;
                case CellKind::total:
                    cell_in<NumberTotal>(state.words, cell).add(row.number(cell.value));
                    break;
                case CellKind::minimum:
                case CellKind::maximum:
                    cell_in<NumberExtreme>(state.words, cell)
                        .take(row.number(cell.value), cell.kind == CellKind::minimum);
                    break;
                default:
                    add_to_large_cell(state, cell, row);
                    break;
            }
        }
    }

    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State sum = older;
        for (const TableCell& cell : plan_->cells) {
            switch (cell.kind) {
                case CellKind::rows:
                case CellKind::present:
                    sum.words[cell.word] += newer.words[cell.word];
                    break;
                case CellKind::total:
                    cell_in<NumberTotal>(sum.words, cell)
                        .add(cell_in<NumberTotal>(newer.words, cell));
                    break;
                case CellKind::minimum:
                case CellKind::maximum:
                    cell_in<NumberExtreme>(sum.words, cell)
                        .take(cell_in<NumberExtreme>(newer.words, cell),
                              cell.kind == CellKind::minimum);
                    break;
                default:
                    combine_large_cell(sum, newer, cell);
                    break;
            }
        }
        return sum;
    }

    template <class Key, class Bounds>
    [[nodiscard]] auto lower(const Key& /*key*/, const Bounds& bounds, const State& state) const {
        if constexpr (Table::is_wide) {
            thread_local std::string text;  // its memory is used again
            text.clear();
            append_results(text, *plan_, bounds, state);
            return TableResult(text);
        } else {
            return state;
        }
    }

  private:
    // Moments and sketches are calls, so that the loops over sums and extremes keep few registers.
    [[gnu::noinline]] void add_to_large_cell(State& state, const TableCell& cell,
                                             const Row& row) const {
        if (cell.kind == CellKind::moments) {
            change_moments(state, cell, [&](window::Moments& moments) {
                moments.add(decimal_of(row.number(cell.value)));
            });
        } else if constexpr (Table::is_wide) {
            add_to_sketch(state.sketches[cell.sketch], cell, row,
                          plan_->time.empty() ? EventTime{} : row.time);
        }
    }
    [[gnu::noinline]] static void combine_large_cell(State& sum, const State& newer,
                                                     const TableCell& cell) {
        if (cell.kind == CellKind::moments) {
            change_moments(sum, cell, [&](window::Moments& moments) {
                moments.add(cell_at<window::Moments>(newer.words, cell));
            });
        } else if constexpr (Table::is_wide) {
            merge_sketch(sum.sketches[cell.sketch], newer.sketches[cell.sketch]);
        }
    }
    template <class Change>
    static void change_moments(State& state, const TableCell& at, Change&& change) {
        auto moments = cell_at<window::Moments>(state.words, at);
        change(moments);
        put_cell(state.words, at, moments);
    }

    std::shared_ptr<const TablePlan> plan_;
};
static_assert(sizeof(TableAggregate<SmallTable>::State) == 32);

}  // namespace strid::tool
