// SPDX-License-Identifier: Apache-2.0
#include "table_results.hpp"

#include <cmath>

#include <strid/connector/csv_value.hpp>

#include "number_cells.hpp"

namespace strid::tool {

namespace {

void append_of_total(std::string& out, AggregateKind kind, const NumberTotal& total,
                     double seconds) {
    if (kind == AggregateKind::count) return append_integer(out, total.count());
    if (total.count() == 0) return;
    if (kind == AggregateKind::sum && total.is_integer()) return append_integer(out, total.wide());
    const double value = kind == AggregateKind::mean  ? total.mean()
                         : kind == AggregateKind::sum ? total.sum()
                                                      : total.sum() / seconds;
    const double divisor =
        kind == AggregateKind::mean ? static_cast<double>(total.count()) : seconds;
    const bool is_whole = total.is_integer() && std::trunc(divisor) == divisor;
    if (is_whole && std::abs(value) >= 0x1p53) {
        append_exactly(out, total.quotient(static_cast<WideInteger>(divisor)));
    } else {
        detail::append_csv_value(out, value, ',');
    }
}

/// One aggregate of those that are read from the words of a state; nothing where it has no value.
void append_plain_result(std::string& out, AggregateKind kind, const std::uint64_t* words,
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
            const window::Moments moments = cell_at<NumberMoments>(words, at).moments();
            if (moments.count() < 2) break;
            const bool squared = kind == AggregateKind::variance;
            detail::append_csv_value(out, squared ? moments.variance() : moments.deviation(), ',');
            break;
        }
    }
}

void append_sketch_result(std::string& out, const TableAggregateItem& item,
                          const TableSketch& sketch, std::size_t length) {
    std::visit(
        [&]<class Sketch>(const Sketch& kept) {
            if constexpr (std::is_same_v<Sketch, NumberDigest>) {
                kept.append(out, item.q);
            } else if constexpr (std::is_same_v<Sketch, TextHashes>) {
                append_integer(out, kept.size());
            } else if constexpr (std::is_same_v<Sketch, TextEstimate>) {
                detail::append_csv_value(out, std::round(kept.estimate()), ',');
            } else if constexpr (std::is_same_v<Sketch, KeptText>) {
                out += kept;
            } else if constexpr (std::is_same_v<Sketch, FrequentTexts>) {
                kept.append(out, length);
            } else {
                kept.append(out);
            }
        },
        sketch);
}

void append_results(std::string& out, const TablePlan& plan, double seconds,
                    const TableState& state) {
    const std::uint64_t* const words = state.words();
    for (const TableAggregateItem& item : plan.items) {
        out += ',';
        const TableCell& cell = plan.cells[item.cell];
        if (is_sketch(cell.kind)) {
            append_sketch_result(out, item, state.sketches()[cell.sketch], cell.length);
        } else {
            append_plain_result(out, item.kind, words, cell, seconds);
        }
    }
}

}  // namespace

TableState result_of(const TablePlan& plan, double seconds, const TableState& state) {
    if (plan.sketches == 0) return state;
    thread_local std::string text;  // its memory is used again
    text.clear();
    append_results(text, plan, seconds, state);
    return TableState(text);
}

void append_result(std::string& out, const TablePlan& plan, double seconds,
                   const TableState& result) {
    if (plan.sketches == 0) return append_results(out, plan, seconds, result);
    out += std::get<KeptText>(result.sketches().front());
}

}  // namespace strid::tool
