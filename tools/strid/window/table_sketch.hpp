// SPDX-License-Identifier: Apache-2.0
//
// The state of a window for a column that needs more than a few words: a sketch of its
// distribution, the different values, lists. Stateless functions over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/unordered/unordered_flat_set.hpp>

#include <strid/base/hash.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates/hyper_log_log.hpp>

#include "number_digest.hpp"
#include "table_plan.hpp"
#include "table_row.hpp"
#include "text_cells.hpp"

namespace strid::tool {

/// The hashes of the different texts.
using TextHashes =
    boost::unordered_flat_set<std::uint64_t, boost::hash<std::uint64_t>, std::equal_to<>,
                              memory::RecyclingAllocator<std::uint64_t>>;
using TextEstimate = window::HyperLogLog<14>;
/// The text is what is written of a window (table_results.hpp): no sketch becomes one.
using TableSketch = std::variant<NumberDigest, TextHashes, TextEstimate, ChosenText, LeadingNumbers,
                                 FrequentTexts, CollectedTexts, KeptText>;

[[nodiscard]] constexpr bool is_sketch(CellKind kind) noexcept {
    return kind >= CellKind::digest;
}

[[nodiscard]] inline TableSketch new_sketch(const TableCell& cell) {
    switch (cell.kind) {
        case CellKind::distinct:
            return TextHashes{};
        case CellKind::distinct_approximately:
            return TextEstimate{};
        case CellKind::first:
        case CellKind::last:
        case CellKind::min_by:
        case CellKind::max_by:
            return ChosenText(cell.kind);
        case CellKind::largest:
        case CellKind::smallest:
            return LeadingNumbers(cell.kind, cell.length);
        case CellKind::frequent:
            return FrequentTexts{};
        case CellKind::collected:
            return CollectedTexts(cell.length);
        default:
            return NumberDigest{};
    }
}

/// The value of the row is not missing. `time`: that of the row, or of all rows the same.
inline void add_to_sketch(TableSketch& sketch, const TableCell& cell, const TableRow& row,
                          EventTime time) {
    switch (cell.kind) {
        case CellKind::digest:
            std::get<NumberDigest>(sketch).add(row.number(cell.value));
            break;
        case CellKind::distinct:
            std::get<TextHashes>(sketch).insert(hash_of(row.text(cell.value)));
            break;
        case CellKind::distinct_approximately:
            std::get<TextEstimate>(sketch).add(row.text(cell.value));
            break;
        case CellKind::first:
        case CellKind::last:
        case CellKind::min_by:
        case CellKind::max_by:
            if (!row.has(cell.by)) break;
            std::get<ChosenText>(sketch).take(row.text(cell.value), time, row.number(cell.by));
            break;
        case CellKind::largest:
        case CellKind::smallest:
            std::get<LeadingNumbers>(sketch).add(row.number(cell.value));
            break;
        case CellKind::frequent:
            std::get<FrequentTexts>(sketch).add(row.text(cell.value));
            break;
        case CellKind::collected:
            std::get<CollectedTexts>(sketch).add(row.text(cell.value), time);
            break;
        default:
            break;
    }
}

/// Both of the same kind, `newer` being of what came behind.
inline void merge_sketch(TableSketch& sketch, const TableSketch& newer) {
    std::visit(
        [&newer]<class Sketch>(Sketch& older) {
            const auto& other = std::get<Sketch>(newer);
            if constexpr (std::is_same_v<Sketch, TextHashes>) {
                older.insert(other.begin(), other.end());
            } else if constexpr (!std::is_same_v<Sketch, KeptText>) {
                older.merge(other);
            }
        },
        sketch);
}

}  // namespace strid::tool
