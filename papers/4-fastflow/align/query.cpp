// SPDX-License-Identifier: Apache-2.0
#include "query.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::align {

namespace {

// The penalties that a kernel of 8 bits subtracts have to fit into 8 bits.
constexpr int cost_of_8_bits_max = 127;
// Far enough from the end of a number that a cost more does not reach it.
constexpr std::int64_t bound_of_8_bits = 100;
constexpr std::int64_t bound_of_16_bits = 30'000;
constexpr std::int64_t bound_of_32_bits = std::numeric_limits<std::int32_t>::max() / 2;

}  // namespace

QueryStrand::QueryStrand(std::string residues, const Scoring& scoring, const VectorLevel& level)
    : residues_(std::move(residues)),
      scoring_(scoring),
      penalties_fit_8_bits_(std::max(scoring.gaps().first(), scoring.magnitude()) <=
                            cost_of_8_bits_max) {
    bits8_.kernel = level.bits8;
    bits16_.kernel = level.bits16;
    bits32_.kernel = level.bits32;
}

Score QueryStrand::score(std::string_view target) const {
    const std::int64_t most = bound(target.size());
    if (most > bound_of_32_bits) {
        throw Error(
            fmt::format("sequences of {} and {} residues: their score may need more than "
                        "32 bits",
                        residues_.size(), target.size()));
    }
    const bool is_local = scoring_.mode() == Mode::local;
    Score score;
    if (penalties_fit_8_bits_ && (is_local || most <= bound_of_8_bits) &&
        run(bits8_, target, score)) {
        return score;
    }
    if ((is_local || most <= bound_of_16_bits) && run(bits16_, target, score)) return score;
    if (!run(bits32_, target, score)) throw Error("parasail: a score does not fit into 32 bits");
    return score;
}

/// No score of the recurrence is further from 0.
std::int64_t QueryStrand::bound(std::size_t target) const noexcept {
    const auto rows = static_cast<std::int64_t>(residues_.size());
    const auto columns = static_cast<std::int64_t>(target);
    const std::int64_t pairs = std::min(rows, columns) * scoring_.magnitude();
    if (scoring_.mode() == Mode::local) return pairs;
    // The gaps along both edges, and one that begins behind them.
    const std::int64_t along = rows + (scoring_.mode() == Mode::global ? columns : 0);
    return std::max(pairs, 3 * std::int64_t{scoring_.gaps().first()} +
                               along * scoring_.gaps().extend + scoring_.magnitude());
}

/// False where the scores do not fit.
bool QueryStrand::run(const Stage& stage, std::string_view target, Score& score) const {
    std::call_once(stage.once, [&] {
        stage.profile.reset(stage.kernel->creator(
            residues_.data(), static_cast<int>(residues_.size()), scoring_.matrix()));
        if (!stage.profile) throw std::bad_alloc();
    });
    parasail_result_t* const result =
        stage.kernel->pointer(stage.profile.get(), target.data(), static_cast<int>(target.size()),
                              scoring_.gaps().first(), scoring_.gaps().extend);
    if (result == nullptr) throw std::bad_alloc();
    const bool fits = parasail_result_is_saturated(result) == 0;
    if (fits) score = {result->score, result->end_query, result->end_ref};
    parasail_result_free(result);
    return fits;
}

Query::Query(std::string_view header, std::string_view residues, std::string_view qualities,
             const Scoring& scoring, const VectorKernel& kernel, bool both_strands)
    : header_(header), qualities_(qualities) {
    const VectorLevel& level = kernel.level(residues.size());
    strands_.push_back(std::make_unique<QueryStrand>(std::string(residues), scoring, level));
    if (!both_strands) return;
    strands_.push_back(std::make_unique<QueryStrand>(reverse_complement(residues), scoring, level));
}

std::vector<Query> read_queries(SequenceReader& reader, const Scoring& scoring,
                                const VectorKernel& kernel, bool both_strands) {
    constexpr std::size_t residues_at_once = std::size_t{1} << 20U;
    std::vector<Query> queries;
    for (SequenceBatch batch; reader.read(batch, residues_at_once);) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            queries.emplace_back(batch.header(i), batch.residues(i), batch.qualities(i), scoring,
                                 kernel, both_strands);
        }
    }
    return queries;
}

}  // namespace strid::align
