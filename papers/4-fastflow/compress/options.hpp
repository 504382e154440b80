// SPDX-License-Identifier: Apache-2.0
//
// The command line, as bzip2's. Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "block.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::compress {

/// The exit codes of bzip2, which differ from those of the other commands.
struct Code {
    static constexpr int done = 0;
    static constexpr int failed = 1;  ///< a file that is not there, a full disk, a wrong option
    static constexpr int corrupt = 2;
};

struct Options {
    Direction direction = Direction::compress;
    int level = 9;
    bool test = false;
    bool to_stdout = false;
    bool keep = false;
    bool force = false;
    bool quiet = false;
    bool verbose = false;
    bool small = false;  ///< Less memory: one worker, and blocks of 200 kB at most.
    tool::WorkerOptions workers = {.count = 1};
    std::vector<std::string> files;

    /// The files are replaced by what they become.
    [[nodiscard]] bool replaces() const noexcept { return !test && !to_stdout; }
};

/// Fills in `options` from the words of the environment's BZIP2 and BZIP, and then those of the
/// command line; the code to end with where there is nothing to do, or what is given is
/// wrong.
[[nodiscard]] std::optional<int> read_options(int argc, const char* const* argv, Options& options);

}  // namespace strid::compress
