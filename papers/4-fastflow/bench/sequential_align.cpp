// SPDX-License-Identifier: Apache-2.0
//
// The work of `strid align QUERIES DATABASE` with its default options, by one thread without a
// pattern: the peer of its speed. Writes the same bytes to standard output.
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <strid/engine/base/terminal.hpp>
#include <strid/program/session.hpp>

#include "batch_plan.hpp"
#include "query.hpp"
#include "report.hpp"
#include "sequence_reader.hpp"
#include "top_hits.hpp"

namespace {

using namespace strid;
using namespace strid::align;

int search(const char* query_path, const char* database_path) {
    constexpr std::size_t hits_max = 10;
    const std::atomic<bool> interrupted{false};
    const Scoring scoring = Scoring::protein("BLOSUM50", {});
    const Alphabet alphabet(scoring.molecule(), scoring.letters());
    SequenceReader query_reader(query_path, alphabet, interrupted);
    const VectorKernel kernel("auto", scoring);
    const auto queries = read_queries(query_reader, scoring, kernel, false);
    const auto begin = std::chrono::steady_clock::now();

    SequenceReader database(database_path, alphabet, interrupted);
    Hits hits(queries.size(), TopHits(hits_max, scoring.mode()));
    for (SequenceBatch batch; database.read(batch, batch_residues);) {
        for (std::size_t i = 0; i < queries.size(); ++i) hits[i].search(queries[i], batch);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;

    const DatabaseSize size{database.sequences(), database.residues()};
    for (std::size_t i = 0; i < queries.size(); ++i) {
        auto results = judge(hits[i].take(), queries[i], Significance::of(scoring), size, {});
        for (Result& result : results) {
            const QueryStrand& strand = *queries[i].strands()[result.hit.strand];
            result.alignment = align::align(strand.residues(), result.hit.residues,
                                            result.hit.score, scoring, interrupted);
        }
        write_to_stdout(report(queries[i], i, results, scoring, Format::table));
    }
    const double cells =
        static_cast<double>(query_reader.residues()) * static_cast<double>(size.residues);
    write_to_stderr(
        fmt::format("{:.2f} s, {:.2f} GCUPS\n", time.count(), cells / time.count() / 1e9));
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return with_errors_reported([&] {
        if (argc == 3) return search(argv[1], argv[2]);
        write_to_stderr("usage: sequential_align QUERIES DATABASE\n");
        return ExitCode::usage;
    });
}
