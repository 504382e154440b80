// SPDX-License-Identifier: Apache-2.0
//
// Which residues of a query and of a sequence lie beside each other, for the pairs that are
// reported. Pure functions; any thread.
//
// parasail's tracebacks take two to four bytes for each pair of residues: gigabytes for two titins.
// This one keeps the scores of every so many columns (of the square root of all) and computes the
// columns between anew on its way back, in memory of the square root of that.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include "query.hpp"
#include "scoring.hpp"

namespace strid::align {

/// A run of columns of the alignment of the same kind.
struct Columns {
    enum class Kind : unsigned char { pair, query_alone, target_alone };
    Kind kind;
    std::size_t count;
};

/// Residues are counted from 0; ends are behind the last.
struct Alignment {
    std::size_t query_begin = 0;
    std::size_t query_end = 0;
    std::size_t target_begin = 0;
    std::size_t target_end = 0;
    std::vector<Columns> columns;  ///< From the first column to the last; neighbours differ.

    std::size_t length = 0;  ///< Columns.
    std::size_t identities = 0;
    std::size_t mismatches = 0;
    std::size_t gaps = 0;          ///< Runs of residues that stand alone.
    std::size_t gap_residues = 0;  ///< In all of them.
};

/// The alignment of the scoring's mode that ends where `score` says and has its score. Of several,
/// at each step from the end: a pair before a gap in the target, that before one in the query, the
/// short gap before the long. Throws Interrupted soon after `interrupted` is set.
[[nodiscard]] Alignment align(std::string_view query, std::string_view target, const Score& score,
                              const Scoring& scoring, const std::atomic<bool>& interrupted);

}  // namespace strid::align
