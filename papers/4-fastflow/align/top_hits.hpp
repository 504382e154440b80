// SPDX-License-Identifier: Apache-2.0
//
// The best hits of one query. Owns copies of their sequences, since a database need not fit into
// the memory. One thread at a time.
//
// Invariant: which hits are kept, and their order, depends on the set of hits alone, not on the
// order in which they are added: by the score, then by the place in the database. A local alignment
// is a hit where its score is above 0, the alignment of another mode always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query.hpp"

namespace strid::align {

struct Hit {
    Score score;
    std::uint64_t target = 0;  ///< The number of the sequence in the database.
    std::size_t strand = 0;    ///< Of the query.
    std::string header;        ///< Of the sequence, as are the residues.
    std::string residues;
};

class TopHits {
  public:
    TopHits(std::size_t hits_max, Mode mode) : hits_max_(hits_max), mode_(mode) {}

    /// Scores a batch by the query and keeps what belongs to the best.
    void search(const Query& query, const SequenceBatch& batch);
    /// Adds what another has found.
    void merge(TopHits&& other);
    /// The best first; none are left.
    [[nodiscard]] std::vector<Hit> take();

  private:
    [[nodiscard]] bool belongs(int score, std::uint64_t target, std::size_t strand) const noexcept;
    void add(Hit hit);

    std::size_t hits_max_;
    Mode mode_;
    std::vector<Hit> hits_;  // a heap, the worst on top
};

/// The best hits of each query.
using Hits = std::vector<TopHits>;

}  // namespace strid::align
