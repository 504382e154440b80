// SPDX-License-Identifier: Apache-2.0
#include "table_aggregate.hpp"

namespace strid::tool {

namespace {

template <class Change>
void change_moments(std::uint64_t* words, const TableCell& at, Change&& change) {
    auto moments = cell_at<NumberMoments>(words, at);
    change(moments);
    put_cell(words, at, moments);
}

}  // namespace

void TableAggregate::add_to_large_cell(TableState& state, const TableCell& cell,
                                       const TableRow& row) const {
    if (cell.kind == CellKind::moments) {
        change_moments(state.words(), cell,
                       [&](NumberMoments& moments) { moments.add(row.number(cell.value)); });
    } else {
        add_to_sketch(state.sketches()[cell.sketch], cell, row,
                      plan_->times.empty() ? EventTime{} : row.time);
    }
}

TableState TableAggregate::combine(const TableState& older, const TableState& newer) const {
    TableState sum = older;
    std::uint64_t* const words = sum.words();
    const std::uint64_t* const more = newer.words();
    for (const TableCell& cell : plan_->cells) {
        switch (cell.kind) {
            case CellKind::rows:
            case CellKind::present:
                words[cell.word] += more[cell.word];
                break;
            case CellKind::total:
                cell_in<NumberTotal>(words, cell).add(cell_in<NumberTotal>(more, cell));
                break;
            case CellKind::minimum:
            case CellKind::maximum:
                cell_in<NumberExtreme>(words, cell)
                    .take(cell_in<NumberExtreme>(more, cell), cell.kind == CellKind::minimum);
                break;
            case CellKind::moments:
                change_moments(words, cell, [&](NumberMoments& moments) {
                    moments.add(cell_at<NumberMoments>(more, cell));
                });
                break;
            default:
                merge_sketch(sum.sketches()[cell.sketch], newer.sketches()[cell.sketch]);
                break;
        }
    }
    return sum;
}

}  // namespace strid::tool
