// SPDX-License-Identifier: Apache-2.0
//
// Reading and growing on several threads. Reading is a pipeline whose middle is an ordered farm:
// blocks of rows are parsed at once and put together in order. Columns are built and sorted in a
// loop that a team shares. Growing is the farm with feedback of YaDT-FF (paper 4, section 1.3.3):
// tasks are nodes, and attributes of large nodes; what a task leads to goes through the farm again,
// to the worker with the least sum of costs.
//
// Threads: each function is called by one, and returns when its threads are done.
//
// Invariant: the results do not depend on the number of workers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/pattern/parallel_for.hpp>
#include <strid/pattern/pattern.hpp>

#include "csv_blocks.hpp"
#include "growth.hpp"
#include "table_parser.hpp"
#include "tools/common/worker_options.hpp"
#include "training.hpp"

namespace strid::tree {

/// Called now and then, by one thread at a time, with how much is done.
using Report = std::function<void(std::uint64_t done)>;

/// Runs a pattern whose tasks are large.
template <class Pattern>
void run_pattern(const Pattern& pattern, const tool::WorkerOptions& workers) {
    strid::pattern::Options options = workers.of_pattern();
    options.lane_tasks = 16;
    strid::pattern::run(pattern, options);
}

/// By `workers`, whose number is not 0, and the team; `report` gets bytes of the input.
[[nodiscard]] Table read_table(CsvBlocks& input, const ReadingOptions& options,
                               strid::pattern::Team& team, const tool::WorkerOptions& workers,
                               const Report& report);

/// Prepares all attributes.
void prepare(std::vector<std::unique_ptr<Training>>& trainings, strid::pattern::Team& team);

/// A tree of each, by `workers`, whose number is not 0; `report` gets cases that have reached a
/// leaf.
[[nodiscard]] std::vector<Tree> grow(const std::vector<std::unique_ptr<Training>>& trainings,
                                     const tool::WorkerOptions& workers, const Report& report);

}  // namespace strid::tree
