// SPDX-License-Identifier: Apache-2.0
#include "query.hpp"

#include <new>
#include <utility>

namespace strid::align {

namespace {

// The penalties that a kernel of 8 bits subtracts have to fit into 8 bits.
constexpr int cost_of_8_bits_max = 127;

}  // namespace

QueryStrand::QueryStrand(std::string residues, const Scoring& scoring, const VectorLevel& level)
    : residues_(std::move(residues)),
      scoring_(scoring),
      fits_8_bits_(scoring.gaps().first() <= cost_of_8_bits_max) {
    bits8_.kernel = level.bits8;
    bits16_.kernel = level.bits16;
    bits32_.kernel = level.bits32;
}

Score QueryStrand::score(std::string_view target) const {
    Score score;
    if (fits_8_bits_ && run(bits8_, target, score)) return score;
    if (run(bits16_, target, score)) return score;
    (void)run(bits32_, target, score);
    return score;
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

Query::Query(std::string_view header, std::string_view residues, const Scoring& scoring,
             const VectorKernel& kernel, bool both_strands)
    : header_(header) {
    const VectorLevel& level = kernel.level(residues.size());
    strands_.push_back(std::make_unique<QueryStrand>(std::string(residues), scoring, level));
    if (!both_strands) return;
    strands_.push_back(std::make_unique<QueryStrand>(reverse_complement(residues), scoring, level));
}

std::vector<Query> read_queries(FastaReader& reader, const Scoring& scoring,
                                const VectorKernel& kernel, bool both_strands) {
    constexpr std::size_t residues_at_once = std::size_t{1} << 20U;
    std::vector<Query> queries;
    for (SequenceBatch batch; reader.read(batch, residues_at_once);) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            queries.emplace_back(batch.header(i), batch.residues(i), scoring, kernel, both_strands);
        }
    }
    return queries;
}

}  // namespace strid::align
