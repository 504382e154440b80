// SPDX-License-Identifier: Apache-2.0
//
// How surprising a score is (Karlin and Altschul 1990): bit scores, and the number of hits with a
// score at least that high which chance alone gives in a database of this size (E-value). Plain
// values; any thread.
//
// The parameters of alignments with gaps come from simulations, so that only those that were
// published are known (significance_table.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scoring.hpp"

namespace strid::align {

/// The parameters of one matrix and one cost of gaps. The length of a hit by chance is
/// alpha / lambda * ln(K m n) + beta (Altschul, Bundschuh, Olsen, Hwa 2001).
struct Parameters {
    std::string_view matrix;  ///< As Scoring::name().
    int open;
    int extend;
    double lambda;
    double k;
    double alpha;
    double beta;
    std::string_view source;
    /// They hold for even scores: an odd one counts as the one below.
    bool even_scores = false;
};

/// All that are known.
[[nodiscard]] std::vector<Parameters> published_parameters();

/// The size of the database that the scores refer to.
struct DatabaseSize {
    std::uint64_t sequences = 0;
    std::uint64_t residues = 0;
};

class Significance {
  public:
    explicit Significance(const Parameters& parameters) : parameters_(parameters) {}
    /// None where no parameters were published, and of alignments that are not local.
    [[nodiscard]] static std::optional<Significance> of(const Scoring& scoring);

    [[nodiscard]] double bits(int score) const noexcept;
    [[nodiscard]] double expected(int score, std::size_t query_length,
                                  const DatabaseSize& database) const noexcept;
    [[nodiscard]] std::string_view source() const noexcept { return parameters_.source; }

  private:
    [[nodiscard]] int counted(int score) const noexcept {
        return parameters_.even_scores ? score - score % 2 : score;
    }
    [[nodiscard]] double length_by_chance(double query, const DatabaseSize& database) const;

    Parameters parameters_;
};

}  // namespace strid::align
