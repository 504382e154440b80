// SPDX-License-Identifier: Apache-2.0
//
// One file from its opening to its end. Any thread, each with a line of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "block_line.hpp"
#include "options.hpp"
#include "output.hpp"
#include "packer.hpp"
#include "planning.hpp"

namespace strid::compress {

struct Outcome {
    int code = Code::done;
    std::string text = {};  ///< whole lines for standard error
};

/// The common part of all jobs.
struct Setting {
    const Options& options;
    const std::atomic<bool>& interrupted;
    std::size_t name_width = 0;  ///< of the lines of --verbose
};

/// A fault of the file becomes part of the outcome, and leaves no output. `shared`: what
/// the result goes to; null: it replaces the file. Throws, where
/// that is standard output, InputOutputError; Interrupted, OperatorError.
[[nodiscard]] Outcome run_job(const Job& job, const Setting& setting, BlockLine& line,
                              Output* shared, const OnProgress& on_progress);

}  // namespace strid::compress
