// SPDX-License-Identifier: Apache-2.0
//
// The hits of a query as text: a table for a person, the tabular format of BLAST (-outfmt 6), or
// SAM (sam.hpp). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alignment.hpp"
#include "query.hpp"
#include "significance.hpp"
#include "top_hits.hpp"

namespace strid::align {

enum class Format : std::uint8_t {
    table,
    alignments,  ///< The table, and each alignment below it.
    blast,
    sam
};

/// The report of a hit. Without published parameters there are neither bits nor an E-value.
struct Result {
    Hit hit;
    std::optional<double> bits;
    std::optional<double> expected;
    Alignment alignment;
};

/// The first word of a header; `otherwise` where it has none.
[[nodiscard]] std::string name_of(std::string_view header, const std::string& otherwise);

/// Everything on one query, which is the `number`th, from 0.
[[nodiscard]] std::string report(const Query& query, std::size_t number,
                                 const std::vector<Result>& results, const Scoring& scoring,
                                 Format format);

/// The results of a query, without their alignments: hits that chance gives more often than
/// `expected_max` are left out.
[[nodiscard]] std::vector<Result> judge(std::vector<Hit> hits, const Query& query,
                                        const std::optional<Significance>& significance,
                                        const DatabaseSize& database,
                                        std::optional<double> expected_max);

}  // namespace strid::align
