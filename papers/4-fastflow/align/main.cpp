// SPDX-License-Identifier: Apache-2.0
//
// strid-align: searches a database of sequences by Smith-Waterman. The results are the same bytes
// for any number of workers, any kind of vector and any machine.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/pattern/team.hpp>
#include <strid/program/arguments.hpp>

#include "align_options.hpp"
#include "sam.hpp"
#include "search.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/progress.hpp"

namespace {

using namespace strid;
using namespace strid::align;

/// "2 queries", "1 query".
std::string counted(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

std::string summary(const SequenceReader& queries, const SequenceReader& database,
                    const VectorKernel& kernel, std::size_t strands, std::size_t workers,
                    double seconds) {
    const double cells = static_cast<double>(queries.residues() * strands) *
                         static_cast<double>(database.residues());
    std::string text = fmt::format(
        "strid: {} of {} against {} of {}: {}cells in {:.2f} s, {:.2f} GCUPS ({}, {})\n",
        counted(queries.sequences(), "query", "queries"),
        counted(queries.residues(), "residue", "residues"),
        counted(database.sequences(), "sequence", "sequences"),
        counted(database.residues(), "residue", "residues"), format_quantity(cells), seconds,
        cells / seconds / 1e9, counted(workers, "worker", "workers"), kernel.name());
    if (const std::uint64_t replaced = queries.replaced() + database.replaced(); replaced != 0) {
        text += fmt::format("strid: {} read as any residue\n",
                            counted(replaced, "letter was", "letters were"));
    }
    for (const auto& [reader, file] : {std::pair{&queries, "query"}, {&database, "database"}}) {
        if (reader->empty() == 0) continue;
        text +=
            fmt::format("strid: {} of the {} without residues passed over, the first in line {}\n",
                        counted(reader->empty(), "sequence was", "sequences were"), file,
                        reader->first_empty_line());
    }
    return text;
}

std::optional<Significance> significance_of(const Scoring& scoring, const AlignOptions& options,
                                            tool::Progress& progress) {
    const auto significance = Significance::of(scoring);
    if (significance) return significance;
    const std::string what =
        fmt::format("no Karlin-Altschul parameters are published for {} with gaps of {} + {} k",
                    scoring.name(), scoring.gaps().open, scoring.gaps().extend);
    if (options.expected_max) throw GraphError(fmt::format("--evalue: {}", what));
    if (!options.quiet && options.mode == Mode::local && options.format != Format::sam) {
        progress.say(fmt::format("strid: {}: neither bit scores nor E-values\n", what));
    }
    return std::nullopt;
}

int run(const AlignOptions& options, const std::string& arguments,
        const tool::Interruption& interruption) {
    options.check();
    const Scoring scoring = options.scoring();
    const VectorKernel kernel(options.vectors, scoring);
    tool::Progress starting("", 0, options.quiet);
    const auto significance = significance_of(scoring, options, starting);
    const bool both_strands = options.dna && options.both_strands.value_or(true);

    const Alphabet alphabet(scoring.molecule(), scoring.letters(), options.unknown);
    SequenceReader query_reader(options.queries, alphabet, interruption.requested());
    const auto queries = read_queries(query_reader, scoring, kernel, both_strands);
    const bool is_sam = options.format == Format::sam;
    if (is_sam) check_sam_names(queries, options.queries);
    SamReferences references(options.database);
    SequenceReader database(options.database, alphabet, interruption.requested());
    Destination output(options.output, Writing::whole);
    output.open();

    tool::Progress progress("B", database.size_bytes(), options.quiet);
    Hits hits = search_database(database, queries, TopHits(options.top, scoring.mode()),
                                options.workers, interruption, [&](const SequenceBatch& batch) {
                                    if (is_sam) references.add(batch);
                                    progress.at(database.bytes_read(), "searching");
                                });
    progress.clear();
    const double seconds = progress.seconds();

    std::vector<std::vector<Result>> results;
    const DatabaseSize size{database.sequences(), database.residues()};
    for (std::size_t i = 0; i < queries.size(); ++i) {
        results.push_back(
            judge(hits[i].take(), queries[i], significance, size, options.expected_max));
    }
    pattern::Team team(options.workers.of_team());
    align_results(results, queries, scoring, team, interruption);
    if (is_sam) output.write(references.header(arguments), interruption.requested());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        output.write(report(queries[i], i, results[i], scoring, options.format),
                     interruption.requested());
    }
    output.commit(interruption.requested());
    if (!options.quiet) {
        progress.say(
            summary(query_reader, database, kernel, both_strands ? 2 : 1, team.threads(), seconds));
    }
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{"Smith-Waterman search of a database of sequences", "strid-align"};
        AlignOptions options;
        add_align_options(app, options);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        std::string arguments;
        for (int i = 1; i < argc; ++i) arguments += fmt::format(" {}", argv[i]);
        return run(options, arguments, interruption);
    });
}
