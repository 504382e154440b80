// SPDX-License-Identifier: Apache-2.0
#include "sam.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::align {

namespace {

// Of the field FLAG.
constexpr unsigned is_unaligned = 4;
constexpr unsigned is_reversed = 16;
constexpr unsigned is_secondary = 256;
constexpr unsigned quality_unknown = 255;  // MAPQ
constexpr std::size_t name_bytes_max = 254;

std::string name_of_query(const Query& query, std::size_t number) {
    return name_of(query.header(), fmt::format("Query_{}", number + 1));
}
std::string name_of_target(std::string_view header, std::uint64_t number) {
    return name_of(header, fmt::format("Subject_{}", number + 1));
}

bool is_query_letter(char letter) {
    return letter >= '!' && letter <= '~' && letter != '@';
}
bool is_target_letter(char letter) {
    return letter >= '!' && letter <= '~' &&
           std::string_view("\\,\"'`()[]{}<>").find(letter) == std::string_view::npos;
}

void add_cigar(std::string& text, const Result& result, std::size_t query_length) {
    const Alignment& alignment = result.alignment;
    const auto add = [&text](std::size_t count, char operation) {
        if (count != 0) fmt::format_to(std::back_inserter(text), "{}{}", count, operation);
    };
    add(alignment.query_begin, 'S');
    for (const Columns& columns : alignment.columns) {
        add(columns.count, columns.kind == Columns::Kind::pair          ? 'M'
                           : columns.kind == Columns::Kind::query_alone ? 'I'
                                                                        : 'D');
    }
    add(query_length - alignment.query_end, 'S');
}

/// The tag MD: how long the query is as the target, and the residues of the target where not.
std::string differences(const Result& result, std::string_view query) {
    std::string text;
    std::size_t same = 0;
    std::size_t q = result.alignment.query_begin;
    std::size_t t = result.alignment.target_begin;
    for (const Columns& columns : result.alignment.columns) {
        if (columns.kind == Columns::Kind::query_alone) {
            q += columns.count;
            continue;
        }
        if (columns.kind == Columns::Kind::target_alone) {
            fmt::format_to(std::back_inserter(text), "{}^{}", std::exchange(same, 0),
                           result.hit.residues.substr(t, columns.count));
            t += columns.count;
            continue;
        }
        for (std::size_t i = 0; i < columns.count; ++i, ++q, ++t) {
            if (query[q] == result.hit.residues[t]) {
                ++same;
                continue;
            }
            fmt::format_to(std::back_inserter(text), "{}{}", std::exchange(same, 0),
                           result.hit.residues[t]);
        }
    }
    return fmt::format("{}{}", text, same);
}

}  // namespace

void SamReferences::add(const SequenceBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::uint64_t number = batch.first() + i;
        const auto [entry, is_new] =
            numbers_.try_emplace(name_of_target(batch.header(i), number), number + 1);
        const std::string& name = entry->first;
        if (!is_new) {
            throw InputOutputError(
                fmt::format("{}: SAM needs names that differ, and sequences {} and {} are both {}",
                            path_, entry->second, number + 1, excerpt(name)));
        }
        if (!std::ranges::all_of(name, is_target_letter) || name.front() == '*' ||
            name.front() == '=') {
            throw InputOutputError(fmt::format("{}: SAM does not allow the name {} of sequence {}",
                                               path_, excerpt(name), number + 1));
        }
        references_.push_back({name, batch.residues(i).size()});
    }
}

std::string SamReferences::header(const std::string& arguments) const {
    std::string text = "@HD\tVN:1.6\tSO:unsorted\tGO:query\n";
    for (const Reference& reference : references_) {
        fmt::format_to(std::back_inserter(text), "@SQ\tSN:{}\tLN:{}\n", reference.name,
                       reference.residues);
    }
    std::string shown = arguments;
    std::ranges::replace_if(
        shown, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, ' ');
    return fmt::format("{}@PG\tID:strid-align\tPN:strid-align\tVN:{}\tCL:strid align{}\n", text,
                       version, shown);
}

void check_sam_names(const std::vector<Query>& queries, const std::string& path) {
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const std::string name = name_of_query(queries[i], i);
        if (name.size() <= name_bytes_max && std::ranges::all_of(name, is_query_letter)) continue;
        throw InputOutputError(fmt::format("{}: SAM does not allow the name {} of sequence {}",
                                           path, excerpt(name), i + 1));
    }
}

std::string sam_records(const Query& query, std::size_t number,
                        const std::vector<Result>& results) {
    const std::string name = name_of_query(query, number);
    const std::string qualities = query.qualities().empty() ? "*" : query.qualities();
    if (results.empty()) {
        return fmt::format("{}\t{}\t*\t0\t0\t*\t*\t0\t0\t{}\t{}\n", name, is_unaligned,
                           query.strands().front()->residues(), qualities);
    }
    std::string text;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& result = results[i];
        const Alignment& alignment = result.alignment;
        const std::string& residues = query.strands()[result.hit.strand]->residues();
        const bool reversed = result.hit.strand != 0;
        // One without a residue of the target lies before one, or behind the last.
        const std::size_t place = std::min(alignment.target_begin + 1, result.hit.residues.size());
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t", name,
                       (reversed ? is_reversed : 0) | (i == 0 ? 0 : is_secondary),
                       name_of_target(result.hit.header, result.hit.target), place,
                       quality_unknown);
        add_cigar(text, result, residues.size());
        // Residues and qualities are those of the first record, as the specification advises.
        const std::string read_so(qualities.rbegin(), qualities.rend());
        fmt::format_to(std::back_inserter(text), "\t*\t0\t0\t{}\t{}\tAS:i:{}\tNM:i:{}\tMD:Z:{}\n",
                       i == 0 ? std::string_view(residues) : "*",
                       i != 0     ? std::string_view("*")
                       : reversed ? std::string_view(read_so)
                                  : std::string_view(qualities),
                       result.hit.score.score, alignment.mismatches + alignment.gap_residues,
                       differences(result, residues));
    }
    return text;
}

}  // namespace strid::align
