// SPDX-License-Identifier: Apache-2.0
//
// The search of a database by a farm (paper 4, section 1.3.3: SWPS3-FF, "a simple farm without the
// collector"), and the alignments of the hits by a loop over them. Borrows everything it is given.
//
// Threads: the caller's and those of the pattern. The database is read by one node, so that what is
// in memory is the batches that are searched. Each worker keeps hits of its own until it ends.
//
// Invariant: the results are the same for any number of workers, since the best hits do not depend
// on the order in which they are found (top_hits.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <strid/pattern/team.hpp>

#include "query.hpp"
#include "report.hpp"
#include "sequence_reader.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/worker_options.hpp"
#include "top_hits.hpp"

namespace strid::align {

using ReadSome = std::function<void(const SequenceBatch&)>;

/// The best hits of each query, of which `none` says how many are kept, by these
/// workers. `read_some` is called with each part that was read, by one thread at a time.
/// Throws InputOutputError, Interrupted.
[[nodiscard]] Hits search_database(SequenceReader& database, const std::vector<Query>& queries,
                                   const TopHits& none, const tool::WorkerOptions& workers,
                                   const tool::Interruption& interruption,
                                   const ReadSome& read_some);

/// Adds the alignments to the results of each query. Throws Interrupted.
void align_results(std::vector<std::vector<Result>>& results, const std::vector<Query>& queries,
                   const Scoring& scoring, pattern::Team& team,
                   const tool::Interruption& interruption);

}  // namespace strid::align
