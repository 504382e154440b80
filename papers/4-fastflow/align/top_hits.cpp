// SPDX-License-Identifier: Apache-2.0
#include "top_hits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strid::align {

namespace {

bool better(const Hit& a, const Hit& b) noexcept {
    return std::tuple(-a.score.score, a.target, a.strand) <
           std::tuple(-b.score.score, b.target, b.strand);
}

}  // namespace

bool TopHits::belongs(int score, std::uint64_t target, std::size_t strand) const noexcept {
    if (mode_ == Mode::local && score <= 0) return false;  // no residue matches: nothing is aligned
    if (hits_.size() < hits_max_) return true;
    const Hit& worst = hits_.front();
    return std::tuple(-score, target, strand) <
           std::tuple(-worst.score.score, worst.target, worst.strand);
}

void TopHits::add(Hit hit) {
    if (hits_.size() == hits_max_) {
        std::ranges::pop_heap(hits_, better);
        hits_.pop_back();
    }
    hits_.push_back(std::move(hit));
    std::ranges::push_heap(hits_, better);
}

void TopHits::search(const Query& query, const SequenceBatch& batch) {
    for (std::size_t strand = 0; strand < query.strands().size(); ++strand) {
        const QueryStrand& one = *query.strands()[strand];
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::string_view residues = batch.residues(i);
            const Score score = one.score(residues);
            const std::uint64_t target = batch.first() + i;
            if (!belongs(score.score, target, strand)) continue;
            add({score, target, strand, std::string(batch.header(i)), std::string(residues)});
        }
    }
}

void TopHits::merge(TopHits&& other) {
    for (Hit& hit : other.hits_) {
        if (belongs(hit.score.score, hit.target, hit.strand)) add(std::move(hit));
    }
    other.hits_.clear();
}

std::vector<Hit> TopHits::take() {
    std::ranges::sort(hits_, better);
    return std::exchange(hits_, {});
}

}  // namespace strid::align
