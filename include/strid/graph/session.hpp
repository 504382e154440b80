// SPDX-License-Identifier: Apache-2.0
//
// A run as a person at a terminal sees it: a progress line, signals, a summary, errors as one line.
// What `strid::run(graph, argc, argv)` and the command line `strid` share.
//
// A session borrows the graph for the length of a call and owns a watching thread for the length of
// the run. Signals belong to the process: of several sessions at once the first has them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/terminal.hpp>
#include <strid/graph/graph.hpp>

namespace strid {

/// What a run shows on the terminal and writes to files.
struct SessionOptions {
    bool quiet = false;  ///< No progress line, no summary.
    /// The report as JSON goes there when the run has ended well; "-": to standard output; empty:
    /// nowhere.
    std::string metrics_path = {};
    /// A picture of the graph with the figures of the run goes there (picture.hpp) when it has
    /// ended well; empty: nowhere. What cannot be drawn is said before the work.
    std::string picture_path = {};
    /// Files that are read or written beside those of the graph: no output may destroy them.
    std::vector<FileUse> files = {};
    /// A SIGTERM that drained the run is a success: for what stops services with it.
    bool zero_on_sigterm = false;
    /// Bytes of input handled so far, from any thread; where empty, what the sources say.
    std::function<std::uint64_t()> bytes_done = {};
    /// Called with the report after a run that did not fail.
    std::function<void(const RunReport&)> when_done = {};
};

/// What a process may end with.
struct ExitCode {
    static constexpr int done = 0;           ///< The run finished.
    static constexpr int failed = 1;         ///< The run failed, or its input could not be read.
    static constexpr int usage = 2;          ///< The command line or the graph was wrong.
    static constexpr int signalled = 128;    ///< plus the number of the signal
    static constexpr int closed_pipe = 141;  ///< as if SIGPIPE had ended it
};

/// Throws GraphError where a file of the graph or the session would be written and read, or written
/// twice (base/file_use.hpp).
void check_files(const Graph& graph, const SessionOptions& session);

/// Runs the graph to its end or to the signal that ends it, tells about it on standard error, and
/// returns the exit code. Throws what ended the run early.
[[nodiscard]] int run_session(const Graph& graph, const RunOptions& options,
                              const SessionOptions& session = {});

/// Calls `body` and returns its result; what it throws becomes one line on standard error and the
/// exit code that fits.
[[nodiscard]] int with_errors_told(const std::function<int()>& body) noexcept;

/// Writes `text` to `path`; a plain file is whole or as it was before. Throws InputOutputError.
void write_file(const std::string& path, std::string_view text);

}  // namespace strid
