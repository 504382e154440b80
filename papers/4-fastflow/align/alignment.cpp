// SPDX-License-Identifier: Apache-2.0
#include "alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::align {

namespace {

// 4 MiB: a whole pair of common proteins.
constexpr std::size_t steps_max = std::size_t{4} << 20U;
// Far below any score, and far from where an int ends.
constexpr int never = std::numeric_limits<int>::min() / 4;

/// Residues of either sequence that the alignment can be long: it has at most as many pairs as the
/// other sequence has residues, these are worth `most` at most, and what that is above the score
/// pays for the gaps.
std::size_t reach(std::size_t other, std::int64_t most, int score, GapCosts gaps) {
    const std::int64_t left = most - score - gaps.first();
    if (left < 0) return other;
    if (gaps.extend == 0) return std::numeric_limits<std::size_t>::max();
    return other + 1 + static_cast<std::size_t>(left / gaps.extend);
}

std::int64_t most(std::string_view residues, const Scoring& scoring) {
    std::int64_t sum = 0;
    for (const char residue : residues) sum += std::max(scoring.greatest(residue), 0);
    return sum;
}

/// The matrix of the mode with affine gaps (Gotoh 1982), a column for each residue of the target. H
/// is the score of the best alignment that ends at a pair of places, E of those that end with
/// residues of the target alone, F of the query. Before the first residues it is that of a gap, or
/// 0 where an alignment may begin there.
class Trace {
  public:
    Trace(std::string_view query, std::string_view target, const Scoring& scoring,
          const std::atomic<bool>& interrupted)
        : query_(query),
          target_(target),
          scoring_(scoring),
          interrupted_(interrupted),
          codes_(query.size()),
          block_columns_(block_columns(query.size(), target.size())),
          h_(query.size(), 0),
          e_(query.size(), never) {
        if (scoring.mode() != Mode::local) {
            for (std::size_t row = 0; row < h_.size(); ++row) h_[row] = -gap_cost(row + 1);
        }
        std::ranges::transform(query, codes_.begin(),
                               [&](char residue) { return scoring.code_of(residue); });
    }

    /// The score of the last pair of places.
    int forward() {
        if (is_one_block()) {
            (void)compute_block(target_.size() - 1);
            return h_.back();
        }
        for (std::size_t column = 0; column < target_.size(); ++column) {
            if (column % block_columns_ == 0) {
                kept_.insert(kept_.end(), h_.begin(), h_.end());
                kept_.insert(kept_.end(), e_.begin(), e_.end());
            }
            compute_column<false>(column, nullptr);
        }
        return h_.back();
    }

    /// From the last pair of places to where the alignment begins, after forward().
    void backward(Alignment& alignment) {
        std::size_t row = query_.size();
        std::size_t column = target_.size();
        Kind kind = Kind::pair;  // it stands in H; otherwise in F or E, inside a gap
        std::size_t first = is_one_block() ? 0 : column;  // of the columns that steps_ has
        while (row != 0 && column != 0) {
            if (column == first) first = compute_block(column - 1);
            const std::uint8_t step = steps_[(column - 1 - first) * query_.size() + row - 1];
            if (kind == Kind::pair) {
                const std::uint8_t from = step & from_mask;
                if (from == from_nothing) break;
                if (from == from_pair) {
                    add(alignment, Kind::pair);
                    --row;
                    --column;
                    continue;
                }
                kind = from == from_f ? Kind::query_alone : Kind::target_alone;
            }
            add(alignment, kind);
            const bool goes_on = (step & (kind == Kind::query_alone ? f_goes_on : e_goes_on)) != 0;
            if (kind == Kind::query_alone) --row;
            if (kind == Kind::target_alone) --column;
            if (!goes_on) kind = Kind::pair;
        }
        if (scoring_.mode() != Mode::local) {
            for (; row != 0; --row) add(alignment, Kind::query_alone);
        }
        if (scoring_.mode() == Mode::global) {
            for (; column != 0; --column) add(alignment, Kind::target_alone);
        }
        std::ranges::reverse(alignment.columns);
        alignment.query_begin = row;
        alignment.target_begin = column;
    }

  private:
    using Kind = Columns::Kind;
    // How the best score of a place came about.
    static constexpr std::uint8_t from_nothing = 0;
    static constexpr std::uint8_t from_pair = 1;
    static constexpr std::uint8_t from_f = 2;
    static constexpr std::uint8_t from_e = 3;
    static constexpr std::uint8_t from_mask = 3;
    static constexpr std::uint8_t f_goes_on = 4;  // the gap has a residue more before this one
    static constexpr std::uint8_t e_goes_on = 8;

    /// Columns whose steps are kept at a time: all of them where these are not many.
    static std::size_t block_columns(std::size_t rows, std::size_t columns) {
        if (columns <= steps_max / rows) return columns;
        return static_cast<std::size_t>(std::sqrt(static_cast<double>(columns)));
    }
    [[nodiscard]] bool is_one_block() const noexcept { return block_columns_ == target_.size(); }

    [[nodiscard]] int gap_cost(std::size_t residues) const noexcept {
        return scoring_.gaps().open + static_cast<int>(residues) * scoring_.gaps().extend;
    }
    /// H before the first residue of the query, behind so many of the target.
    [[nodiscard]] int edge(std::size_t columns) const noexcept {
        return scoring_.mode() == Mode::global && columns != 0 ? -gap_cost(columns) : 0;
    }

    template <bool with_steps>
    void compute_column(std::size_t column, std::uint8_t* steps) {
        if (scoring_.mode() == Mode::local) {
            compute<with_steps, true>(column, steps);
        } else {
            compute<with_steps, false>(column, steps);
        }
    }

    /// Moves H and E one column on; writes the steps of the column where asked.
    template <bool with_steps, bool is_local>
    void compute(std::size_t column, std::uint8_t* steps) {
        if (interrupted_.load(std::memory_order_relaxed)) throw Interrupted();
        const int* const scores = scoring_.row_of(target_[column]);
        const int first = scoring_.gaps().first();
        const int extend = scoring_.gaps().extend;
        int diagonal = edge(column);
        int above = edge(column + 1);
        int f = never;
        for (std::size_t row = 0; row < query_.size(); ++row) {
            const int left = h_[row];
            const int e = std::max(left - first, e_[row] - extend);
            const int longer_f = f - extend;
            f = std::max(above - first, longer_f);
            const int pair = diagonal + scores[codes_[row]];
            int best = std::max({pair, f, e});
            if constexpr (is_local) best = std::max(best, 0);
            if constexpr (with_steps) {
                std::uint8_t step = from_nothing;
                if (!is_local || best > 0)
                    step = best == pair ? from_pair : best == f ? from_f : from_e;
                if (f > above - first) step |= f_goes_on;
                if (e > left - first) step |= e_goes_on;
                steps[row] = step;
            }
            e_[row] = e;
            h_[row] = best;
            above = best;
            diagonal = left;
        }
    }

    /// The steps of the block that the column is in. Returns its first column.
    std::size_t compute_block(std::size_t column) {
        const std::size_t block = column / block_columns_;
        const std::size_t first = block * block_columns_;
        if (!is_one_block()) {
            const auto kept = kept_.begin() + static_cast<long>(2 * block * query_.size());
            const auto rows = static_cast<long>(query_.size());
            std::copy(kept, kept + rows, h_.begin());
            std::copy(kept + rows, kept + 2 * rows, e_.begin());
        }
        steps_.resize((column + 1 - first) * query_.size());
        for (std::size_t i = first; i <= column; ++i) {
            compute_column<true>(i, steps_.data() + (i - first) * query_.size());
        }
        return first;
    }

    static void add(Alignment& alignment, Kind kind) {
        if (alignment.columns.empty() || alignment.columns.back().kind != kind) {
            alignment.columns.push_back({kind, 0});
        }
        ++alignment.columns.back().count;
    }

    std::string_view query_;
    std::string_view target_;
    const Scoring& scoring_;
    const std::atomic<bool>& interrupted_;
    std::vector<int> codes_;
    std::size_t block_columns_;
    std::vector<int> h_;
    std::vector<int> e_;
    std::vector<int> kept_;            // H and E before each block
    std::vector<std::uint8_t> steps_;  // of one block, column by column
};

void count(Alignment& alignment, std::string_view query, std::string_view target,
           const Scoring& scoring) {
    std::size_t q = alignment.query_begin;
    std::size_t t = alignment.target_begin;
    for (const Columns& columns : alignment.columns) {
        alignment.length += columns.count;
        if (columns.kind == Columns::Kind::pair) {
            for (std::size_t i = 0; i < columns.count; ++i) {
                const bool is_identical = scoring.identical(query[q + i], target[t + i]);
                ++(is_identical ? alignment.identities : alignment.mismatches);
            }
        } else {
            ++alignment.gaps;
            alignment.gap_residues += columns.count;
        }
        if (columns.kind != Columns::Kind::target_alone) q += columns.count;
        if (columns.kind != Columns::Kind::query_alone) t += columns.count;
    }
}

}  // namespace

Alignment align(std::string_view query, std::string_view target, const Score& score,
                const Scoring& scoring, const std::atomic<bool>& interrupted) {
    Alignment alignment;
    alignment.query_end = static_cast<std::size_t>(score.query_end) + 1;
    alignment.target_end = static_cast<std::size_t>(score.target_end) + 1;
    // Residues before the reach of the alignment have no part in it.
    const std::string_view query_part = query.substr(0, alignment.query_end);
    const std::string_view target_part = target.substr(0, alignment.target_end);
    std::size_t query_size = query_part.size();
    std::size_t target_size = target_part.size();
    if (scoring.mode() == Mode::local) {
        query_size = std::min(query_size, reach(target_part.size(), most(target_part, scoring),
                                                score.score, scoring.gaps()));
    }
    if (scoring.mode() != Mode::global) {
        target_size = std::min(target_size, reach(query_part.size(), most(query_part, scoring),
                                                  score.score, scoring.gaps()));
    }
    const std::size_t query_skipped = query_part.size() - query_size;
    const std::size_t target_skipped = target_part.size() - target_size;
    Trace trace(query_part.substr(query_skipped), target_part.substr(target_skipped), scoring,
                interrupted);
    if (const int reached = trace.forward(); reached != score.score) {
        throw Error(fmt::format("the alignment has a score of {}, but parasail found {}", reached,
                                score.score));
    }
    trace.backward(alignment);
    alignment.query_begin += query_skipped;
    alignment.target_begin += target_skipped;
    count(alignment, query, target, scoring);
    return alignment;
}

}  // namespace strid::align
