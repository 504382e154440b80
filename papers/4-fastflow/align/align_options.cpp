// SPDX-License-Identifier: Apache-2.0
#include "align_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/program/arguments.hpp>

namespace strid::align {

namespace {

constexpr unsigned cost_max = 10'000;        // far from what 16 bits hold
constexpr unsigned residue_score_max = 100;  // a kernel of 8 bits holds it
constexpr std::size_t top_max = 1'000'000;

constexpr const char* footer =
    "A gap of k residues costs OPEN + k * EXTEND. Sequences may lie in files that gzip, zstd, xz "
    "or\n"
    "bzip2 compressed, or come from a pipe; - is standard input. Lower case letters are residues\n"
    "like others. U, O and J of proteins are read as X where the matrix has no row for them.\n"
    "\n"
    "Examples:\n"
    "  strid align query.fasta uniprot_sprot.fasta.gz\n"
    "  strid align --format blast --evalue 1e-5 --top 100 queries.fasta db.fasta > hits.tsv\n"
    "  strid align --matrix BLOSUM62 --gap-open 11 --gap-extend 1 query.fasta db.fasta\n"
    "  zcat reads.fa.gz | strid align --dna --format alignments gene.fa -\n"
    "  strid align --dna --mode semi-global --format sam --top 1 reads.fastq.gz genes.fa";

/// Takes a whole number into what may be left out.
void add_optional_number(CLI::App& app, const std::string& name, std::optional<unsigned>& value,
                         unsigned least, unsigned most, const std::string& help) {
    add_number_option(
        app, name, least, most,
        [&value](std::uint64_t number) { value = static_cast<unsigned>(number); }, help);
}

double read_expected(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto result = fast_float::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value) || value <= 0) {
        throw GraphError(fmt::format("'{}' is no number above 0", text));
    }
    return value;
}

void add_scoring_options(CLI::App& app, AlignOptions& options) {
    add_choice<Mode>(
        app, "--mode", options.mode,
        {{"local", Mode::local}, {"global", Mode::global}, {"semi-global", Mode::semi_global}},
        "Parts of both sequences (default), both whole, or the query whole in a part of the "
        "target");
    app.add_option("--matrix", options.matrix,
                   "BLOSUM30 to BLOSUM100, PAM10 to PAM500 (default: BLOSUM50), or a file in the "
                   "format of NCBI")
        ->type_name("NAME|FILE");
    add_optional_number(app, "--gap-open", options.gap_open, 0, cost_max,
                        "What a gap costs beside its residues (default: 10; with --dna 5)");
    add_optional_number(app, "--gap-extend", options.gap_extend, 0, cost_max,
                        "What each residue of a gap costs (default: 2)");
    app.add_flag("--dna", options.dna, "Nucleic acids: scores by match and mismatch");
    add_optional_number(app, "--match", options.match, 1, residue_score_max,
                        "With --dna: score of equal bases (default: 2)");
    add_optional_number(app, "--mismatch", options.mismatch, 1, residue_score_max,
                        "With --dna: cost of different bases (default: 3)");
    add_choice(
        app, "--strand", {"both", "plus"},
        [&options](std::size_t i) { options.both_strands = i == 0; },
        "With --dna: search by the reverse complement of a query as well (default: both)");
    add_choice<Unknown>(app, "--unknown", options.unknown,
                        {{"reject", Unknown::reject}, {"any", Unknown::any}},
                        "A letter that is no residue: an error (default), or read as X (N)");
}

}  // namespace

void add_align_options(CLI::App& app, AlignOptions& options) {
    app.footer(footer);
    app.add_option("QUERIES", options.queries, "FASTA or FASTQ file of the queries")
        ->type_name("")
        ->required();
    app.add_option("DATABASE", options.database, "FASTA or FASTQ file that is searched")
        ->type_name("")
        ->required();
    app.add_option("--output", options.output, "-: standard output (default)")->type_name("FILE");
    add_choice<Format>(
        app, "--format", options.format,
        {{"table", Format::table},
         {"alignments", Format::alignments},
         {"blast", Format::blast},
         {"sam", Format::sam}},
        "A table (default), with the alignments, the 12 columns of BLAST's -outfmt 6, or, with "
        "--dna, SAM");
    add_number_option(app, "--top", options.top, 1, top_max,
                      "Hits that are kept for each query (default: 10)");
    add_text_option(
        app, "--evalue", "E",
        [&options](const std::string& text) { options.expected_max = read_expected(text); },
        "Leave out hits that chance gives more often than this");
    add_scoring_options(app, options);
    app.add_option("--vectors", options.vectors,
                   "auto (default), avx2, sse41, sse2, neon or altivec; changes the speed only")
        ->type_name("KIND");
    tool::add_worker_options(app, options.workers, "Threads (default: one for each core)");
    app.add_flag("--quiet", options.quiet, "No progress line and no summary");
}

// A name of parasail's comes first, because a file may be written with its folder.
bool AlignOptions::matrix_is_file() const {
    if (matrix.empty() || has_matrix(matrix)) return false;
    return dna || matrix.find('/') != std::string::npos || std::filesystem::exists(matrix);
}

Scoring AlignOptions::scoring() const {
    const unsigned open = gap_open.value_or(dna ? 5 : 10);
    const GapCosts gaps{static_cast<int>(open), static_cast<int>(gap_extend.value_or(2))};
    const auto made = [&] {
        if (dna && matrix.empty()) {
            return Scoring::dna(static_cast<int>(match.value_or(2)),
                                static_cast<int>(mismatch.value_or(3)), gaps);
        }
        if (matrix_is_file()) {
            return Scoring::file(matrix, dna ? Molecule::dna : Molecule::protein, gaps);
        }
        return Scoring::protein(matrix.empty() ? "BLOSUM50" : matrix, gaps);
    };
    Scoring scoring = made();
    scoring.set_mode(mode);
    return scoring;
}

void AlignOptions::check() const {
    if (dna && !matrix.empty() && (match || mismatch)) {
        throw GraphError("--match and --mismatch are for searches without --matrix");
    }
    if (dna && has_matrix(matrix)) {
        throw GraphError(
            fmt::format("--matrix {}: a matrix for proteins; with --dna it is a file (as ./{})",
                        matrix, matrix));
    }
    if (!dna && format == Format::sam) throw GraphError("--format sam is for --dna");
    if (mode != Mode::local && expected_max) {
        throw GraphError("--evalue is for --mode local: E-values are known of local alignments");
    }
    if (!dna && (match || mismatch || both_strands)) {
        throw GraphError("--match, --mismatch and --strand are for --dna");
    }
    if (queries == "-" && database == "-") {
        throw GraphError("queries and database cannot both be standard input");
    }
    std::vector<FileUse> uses{{.path = queries, .user = "the queries"},
                              {.path = database, .user = "the database"},
                              {.kind = FileUse::Kind::writes,
                               .path = output,
                               .beside = output != "-",
                               .user = "--output"}};
    if (matrix_is_file()) uses.push_back({.path = matrix, .user = "--matrix"});
    check_files(uses);
}

}  // namespace strid::align
