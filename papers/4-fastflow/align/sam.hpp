// SPDX-License-Identifier: Apache-2.0
//
// Hits as SAM (Sequence Alignment/Map, version 1.6 of its specification): the header, which lists
// the sequences of the database, and the records of a query. One thread at a time for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query.hpp"
#include "report.hpp"
#include "sequence_reader.hpp"

namespace strid::align {

/// The names and lengths of the database's sequences, which a header needs whether they are hit or
/// not: some 100 bytes of memory for each.
class SamReferences {
  public:
    /// `path` is that of the database, for messages.
    explicit SamReferences(std::string path) : path_(std::move(path)) {}

    /// Throws InputOutputError for a name that another sequence has or that SAM does not allow.
    void add(const SequenceBatch& batch);
    /// With the arguments of the command line, joined, which the line of the program has.
    [[nodiscard]] std::string header(const std::string& arguments) const;

  private:
    struct Reference {
        std::string_view name;  // of a key of numbers_
        std::size_t residues;
    };
    std::string path_;
    std::unordered_map<std::string, std::uint64_t> numbers_;  // from 1
    std::vector<Reference> references_;
};

/// Throws InputOutputError for a name of a query that SAM does not allow.
void check_sam_names(const std::vector<Query>& queries, const std::string& path);

/// The records of a query, the `number`th from 0: the best hit, the others as secondary
/// alignments, or that the query is not aligned.
[[nodiscard]] std::string sam_records(const Query& query, std::size_t number,
                                      const std::vector<Result>& results);

}  // namespace strid::align
