// SPDX-License-Identifier: Apache-2.0
//
// A query, ready to be aligned with any number of sequences: its residues and its profiles, which
// say what each residue of the alphabet is worth at each place of the query, in the order in which
// a vector kernel needs it (parasail). Owns both; borrows the scoring and the kernel.
//
// Threads: any number score at once. A profile is made by the first that needs it: most queries
// never need more than that of 8 bits.
//
// Invariant: score() is the exact score of the mode. A local kernel says when its scores did not
// fit; the next wider one then begins anew. The others, where scores may be far below 0, begin with
// a width that the lengths of the pair cannot exceed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "scoring.hpp"
#include "sequence_reader.hpp"
#include "vector_kernel.hpp"

namespace strid::align {

/// The best alignment of a pair: what it is worth, and the last residues of it. Of several
/// with this score, the one that ends first in the target, and then in the query.
struct Score {
    int score = 0;
    int query_end = 0;   ///< Counted from 0.
    int target_end = 0;  ///< Counted from 0.
};

/// One direction of a query.
class QueryStrand {
  public:
    QueryStrand(std::string residues, const Scoring& scoring, const VectorLevel& level);

    /// Throws Error where sequences are too long for scores of 32 bits.
    [[nodiscard]] Score score(std::string_view target) const;
    [[nodiscard]] const std::string& residues() const noexcept { return residues_; }

  private:
    struct Free {
        void operator()(parasail_profile_t* profile) const noexcept {
            parasail_profile_free(profile);
        }
    };
    /// For one number of bits.
    struct Stage {
        const parasail_pfunction_info_t* kernel = nullptr;
        mutable std::once_flag once;
        mutable std::unique_ptr<parasail_profile_t, Free> profile;
    };
    [[nodiscard]] std::int64_t bound(std::size_t target) const noexcept;
    [[nodiscard]] bool run(const Stage& stage, std::string_view target, Score& score) const;

    const std::string residues_;
    const Scoring& scoring_;
    bool penalties_fit_8_bits_;
    Stage bits8_;
    Stage bits16_;
    Stage bits32_;
};

class Query {
  public:
    Query(std::string_view header, std::string_view residues, std::string_view qualities,
          const Scoring& scoring, const VectorKernel& kernel, bool both_strands);

    [[nodiscard]] const std::string& header() const noexcept { return header_; }
    /// Of FASTQ, a letter for each residue; empty of FASTA.
    [[nodiscard]] const std::string& qualities() const noexcept { return qualities_; }
    [[nodiscard]] std::size_t length() const noexcept {
        return strands_.front()->residues().size();
    }
    /// The query as it was given, and for both strands its reverse complement.
    [[nodiscard]] const std::vector<std::unique_ptr<QueryStrand>>& strands() const noexcept {
        return strands_;
    }

  private:
    std::string header_;
    std::string qualities_;
    std::vector<std::unique_ptr<QueryStrand>> strands_;
};

/// All sequences of a file. Throws InputOutputError.
[[nodiscard]] std::vector<Query> read_queries(SequenceReader& reader, const Scoring& scoring,
                                              const VectorKernel& kernel, bool both_strands);

}  // namespace strid::align
