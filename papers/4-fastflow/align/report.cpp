// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/base/terminal.hpp>

#include "sam.hpp"

namespace strid::align {

namespace {

constexpr std::size_t header_columns = 60;
constexpr std::size_t alignment_columns = 60;

/// As BLAST writes them.
std::string expected_text(const std::optional<double>& expected) {
    if (!expected) return "N/A";
    const double e = *expected;
    if (e < 1e-180) return "0.0";
    if (e < 1e-99) return fmt::format("{:.0e}", e);
    if (e < 0.0009) return fmt::format("{:.2e}", e);
    if (e < 0.1) return fmt::format("{:.3f}", e);
    if (e < 1) return fmt::format("{:.2f}", e);
    if (e < 10) return fmt::format("{:.1f}", e);
    return fmt::format("{:.0f}", e);
}

std::string bits_text(const std::optional<double>& bits) {
    if (!bits) return "N/A";
    if (*bits > 99999) return fmt::format("{:.3e}", *bits);
    if (*bits > 99.9) return fmt::format("{:.0f}", std::floor(*bits));
    return fmt::format("{:.1f}", *bits);
}

double percent(std::size_t part, std::size_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Where the alignment lies, counted from 1, in the query as it was given. On its other strand the
/// target is the one that runs backwards, as in BLAST. One without a residue of the target, which
/// may be the best of a whole query, lies at 0 to 0.
struct Places {
    std::size_t query_first;
    std::size_t query_last;
    std::size_t target_first;
    std::size_t target_last;
};
Places places(const Result& result, const Query& query) {
    const Alignment& alignment = result.alignment;
    std::size_t first = alignment.target_begin + 1;
    std::size_t last = alignment.target_end;
    if (first > last) first = last = 0;
    if (result.hit.strand == 0) {
        return {alignment.query_begin + 1, alignment.query_end, first, last};
    }
    return {query.length() - alignment.query_end + 1, query.length() - alignment.query_begin, last,
            first};
}

std::string blast_line(const Query& query, std::size_t number, const Result& result) {
    const Alignment& alignment = result.alignment;
    const Places at = places(result, query);
    return fmt::format("{}\t{}\t{:.3f}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       name_of(query.header(), fmt::format("Query_{}", number + 1)),
                       name_of(result.hit.header, fmt::format("Subject_{}", result.hit.target + 1)),
                       percent(alignment.identities, alignment.length), alignment.length,
                       alignment.mismatches, alignment.gaps, at.query_first, at.query_last,
                       at.target_first, at.target_last, expected_text(result.expected),
                       bits_text(result.bits));
}

/// Cut where it is too long, not inside of a character of UTF-8.
std::string shortened(std::string_view header) {
    if (header.size() <= header_columns) return std::string(header);
    std::size_t end = header_columns - 3;
    while (end > 0 && (static_cast<unsigned char>(header[end]) & 0xc0U) == 0x80U) --end;
    return std::string(header.substr(0, end)) + "...";
}

std::string table_line(const Query& query, std::size_t rank, const Result& result) {
    const Places at = places(result, query);
    const Alignment& alignment = result.alignment;
    return fmt::format(
        "{:>4} {:>6} {:>7} {:>9} {:>5.1f}% {:>11} {:>13}  {}\n", rank, result.hit.score.score,
        bits_text(result.bits), expected_text(result.expected),
        percent(alignment.identities, alignment.length),
        fmt::format("{}-{}", at.query_first, at.query_last),
        fmt::format("{}-{}", at.target_first, at.target_last), shortened(result.hit.header));
}

/// The alignment as three lines for so many columns: the query, what matches, the target.
struct Lines {
    std::string query;
    std::string middle;
    std::string target;
};
Lines lines_of(const Result& result, const Query& query, const Scoring& scoring) {
    const std::string& residues = query.strands()[result.hit.strand]->residues();
    const std::string& target = result.hit.residues;
    Lines lines;
    std::size_t q = result.alignment.query_begin;
    std::size_t t = result.alignment.target_begin;
    for (const Columns& columns : result.alignment.columns) {
        for (std::size_t i = 0; i < columns.count; ++i) {
            const bool has_query = columns.kind != Columns::Kind::target_alone;
            const bool has_target = columns.kind != Columns::Kind::query_alone;
            const char a = has_query ? residues[q++] : '-';
            const char b = has_target ? target[t++] : '-';
            lines.query += a;
            lines.target += b;
            const bool pair = has_query && has_target;
            const bool similar = pair && scoring.row_of(a)[scoring.code_of(b)] > 0;
            lines.middle += pair && scoring.identical(a, b) ? '|' : similar ? '+' : ' ';
        }
    }
    return lines;
}

/// The place of a residue before or behind which `count` residues lie, in the direction of reading.
std::size_t moved(std::size_t place, std::size_t count, bool forward) {
    return forward ? place + count : place - count;
}

void add_alignment(std::string& text, const Query& query, std::size_t rank, const Result& result,
                   const Scoring& scoring) {
    const Alignment& alignment = result.alignment;
    fmt::format_to(std::back_inserter(text),
                   "\n{:>4}  {}\n      score {}, {} bits, E-value {}, {} of {} identical, {} gaps"
                   " of {} residues\n",
                   rank, result.hit.header, result.hit.score.score, bits_text(result.bits),
                   expected_text(result.expected), alignment.identities, alignment.length,
                   alignment.gaps, alignment.gap_residues);
    const Lines lines = lines_of(result, query, scoring);
    // The strand that is not as it was given runs backwards: that of the query, as it is read here.
    const Places at = places(result, query);
    const bool forward = result.hit.strand == 0;
    std::size_t q = forward ? at.query_first : at.query_last;
    std::size_t t = alignment.target_begin + 1;
    for (std::size_t begin = 0; begin < lines.query.size(); begin += alignment_columns) {
        const std::string query_part = lines.query.substr(begin, alignment_columns);
        const std::string target_part = lines.target.substr(begin, alignment_columns);
        const auto residues = [](const std::string& part) {
            return part.size() - static_cast<std::size_t>(std::ranges::count(part, '-'));
        };
        const std::size_t query_residues = residues(query_part);
        const std::size_t target_residues = residues(target_part);
        const auto line = [&](const char* name, std::size_t first, std::size_t count, bool up,
                              const std::string& part) {
            // A line of gaps alone has the number of the residue before it, as in BLAST.
            const std::size_t shown = count == 0 && begin != 0 ? moved(first, 1, !up) : first;
            const std::size_t last = count == 0 ? shown : moved(first, count - 1, up);
            fmt::format_to(std::back_inserter(text), "{:<6}{:>9} {} {}\n", name, shown, part, last);
        };
        text += '\n';
        line("query", q, query_residues, forward, query_part);
        fmt::format_to(std::back_inserter(text), "{:>16}{}\n", "",
                       lines.middle.substr(begin, alignment_columns));
        line("target", t, target_residues, true, target_part);
        if (begin + alignment_columns < lines.query.size()) {
            q = moved(q, query_residues, forward);
            t += target_residues;
        }
    }
}

}  // namespace

std::string name_of(std::string_view header, const std::string& otherwise) {
    const std::string_view word = header.substr(0, header.find_first_of(" \t"));
    return word.empty() ? otherwise : std::string(word);
}

std::vector<Result> judge(std::vector<Hit> hits, const Query& query,
                          const std::optional<Significance>& significance,
                          const DatabaseSize& database, std::optional<double> expected_max) {
    std::vector<Result> results;
    for (Hit& hit : hits) {
        Result result{std::move(hit), {}, {}, {}};
        if (significance) {
            const int score = result.hit.score.score;
            result.bits = significance->bits(score);
            result.expected = significance->expected(score, query.length(), database);
        }
        if (expected_max && result.expected > expected_max) continue;
        results.push_back(std::move(result));
    }
    return results;
}

std::string report(const Query& query, std::size_t number, const std::vector<Result>& results,
                   const Scoring& scoring, Format format) {
    if (format == Format::sam) return sam_records(query, number, results);
    std::string text;
    if (format == Format::blast) {
        for (const Result& result : results) text += blast_line(query, number, result);
        return text;
    }
    if (number != 0) text += '\n';
    fmt::format_to(std::back_inserter(text), "Query {}: {} ({} residues)\n", number + 1,
                   query.header(), format_count(query.length()));
    if (results.empty()) return text + "no hits\n";
    fmt::format_to(std::back_inserter(text), "{:>4} {:>6} {:>7} {:>9} {:>6} {:>11} {:>13}  {}\n",
                   "rank", "score", "bits", "E-value", "ident", "query", "target", "sequence");
    for (std::size_t i = 0; i < results.size(); ++i) {
        text += table_line(query, i + 1, results[i]);
    }
    if (format != Format::alignments) return text;
    for (std::size_t i = 0; i < results.size(); ++i) {
        add_alignment(text, query, i + 1, results[i], scoring);
    }
    return text;
}

}  // namespace strid::align
