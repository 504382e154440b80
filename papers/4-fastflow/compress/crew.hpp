// SPDX-License-Identifier: Apache-2.0
//
// The second accelerator of paper 4's file compressor: whole small files, each read, coded and
// written by one worker. The first is BlockAccelerator; the program has one of the two at a time,
// so that --workers is the number of threads that code.
//
// Owns the accelerator. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "job.hpp"

namespace strid::compress {

/// Called with what became of each job, in the order of the jobs; false: the others are left.
using OnOutcome = std::function<bool(const Job&, Outcome)>;

/// Runs the jobs. `shared`: their results go there, in order; null: each replaces its file.
void run_small_jobs(std::span<const Job> jobs, const Setting& setting, Output* shared,
                    const OnOutcome& on_outcome);

}  // namespace strid::compress
