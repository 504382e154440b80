// SPDX-License-Identifier: Apache-2.0
//
// Which files are worked on, and what they become: the checks that come before any work, with those
// of bzip2 among them. Plain values; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace strid::compress {

/// One file.
struct Job {
    std::string input = {};   ///< "-": standard input
    std::string output = {};  ///< where it is replaced
    std::uint64_t size = 0;
    /// A regular file of about one block: worked on by one worker from its opening to its end.
    bool is_small = false;
};

/// Whole lines for standard error.
using Warn = std::function<void(const std::string&)>;

struct Plan {
    std::vector<Job> jobs;
    int code = Code::done;  ///< of the files that are left out
};

/// Reports which files are left out and why. Throws GraphError where standard output would destroy
/// an input.
[[nodiscard]] Plan make_plan(const Options& options, const Warn& warn);

/// "strid: error: FILE: what" as a line.
[[nodiscard]] std::string error_line(const std::string& what);

}  // namespace strid::compress
