// SPDX-License-Identifier: Apache-2.0
//
// All aggregates of the list at once; an Aggregate of window/aggregates/aggregate.hpp. For its
// results see table_results.hpp.
//
// Threads: as any aggregate, each replica has its own; the plan is shared and constant.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "job_in_snapshot.hpp"
#include "number_cells.hpp"
#include "table_results.hpp"
#include "table_row.hpp"
#include "table_state.hpp"

namespace strid::tool {

class TableAggregate {
  public:
    using State = TableState;

    /// `late`: where late rows are written, or null.
    explicit TableAggregate(std::shared_ptr<const TablePlan> plan,
                            std::shared_ptr<LateFile> late = {})
        : plan_(std::move(plan)), late_(std::move(late)) {}
    /// A part of the state of the operator.
    auto state() { return std::make_tuple(JobInSnapshot(*plan_, late_.get())); }

    [[nodiscard]] TableState identity() const { return TableState(*plan_); }
    [[nodiscard]] TableState lift(const TableRow& row) const {
        TableState state(*plan_);
        add(state, row);
        return state;
    }

    void add(TableState& state, const TableRow& row) const {
        std::uint64_t* const words = state.words();
        for (const TableCell& cell : plan_->cells) {
            if (cell.kind == CellKind::rows) {
                ++words[cell.word];
                continue;
            }
            if (!row.has(cell.value)) continue;
            switch (cell.kind) {
                case CellKind::present:
                    ++words[cell.word];
                    break;
                case CellKind::total:
                    cell_in<NumberTotal>(words, cell).add(row.number(cell.value));
                    break;
                case CellKind::minimum:
                case CellKind::maximum:
                    cell_in<NumberExtreme>(words, cell)
                        .take(row.number(cell.value), cell.kind == CellKind::minimum);
                    break;
                default:
                    add_to_large_cell(state, cell, row);
                    break;
            }
        }
    }

    [[nodiscard]] TableState combine(const TableState& older, const TableState& newer) const;

    template <class Key, class Bounds>
    [[nodiscard]] TableState lower(const Key& /*key*/, const Bounds& bounds,
                                   const TableState& state) const {
        return result_of(*plan_, seconds_of(bounds), state);
    }

  private:
    // Moments and sketches are calls, so that the loop over sums and extremes keeps few registers.
    void add_to_large_cell(TableState& state, const TableCell& cell, const TableRow& row) const;

    std::shared_ptr<const TablePlan> plan_;
    std::shared_ptr<LateFile> late_;
};

}  // namespace strid::tool
