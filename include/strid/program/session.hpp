// SPDX-License-Identifier: Apache-2.0
//
// A run at a terminal: a progress line, signals, a summary, and errors as one line. Shared by
// `strid::run(graph, argc, argv)` and the command line `strid`.
//
// A session borrows the graph for the length of a call and owns a watching thread for the length of
// the run. Signals belong to the process: if several sessions run at once, the first handles them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/engine/base/terminal.hpp>
#include <strid/stream/graph.hpp>

namespace strid {

class Companion;

/// The output of a run on the terminal and in files.
struct SessionOptions {
    bool quiet = false;  ///< No progress line, no summary.
    /// The file for the report as JSON, written when the run has ended well; "-": standard output;
    /// empty: none.
    std::string metrics_path = {};
    /// Above 0: `metrics_path` gets lines of JSON while the run goes on, one each time, and a last
    /// one at the end however the run ended (ReportLog). At least 1 ms.
    std::chrono::nanoseconds metrics_every{0};
    /// The file for a picture of the graph with the figures of the run (picture.hpp), written when
    /// the run has ended well; empty: none. A picture that cannot be drawn is an error before the
    /// run begins.
    std::string picture_path = {};
    /// Files that are read or written beside those of the graph: no output may destroy them.
    std::vector<FileUse> files = {};
    /// A SIGTERM that drained the run counts as success, for service managers that stop services
    /// with it.
    bool zero_on_sigterm = false;
    /// Bytes of input handled so far, from any thread; if empty, the figures of the sources.
    std::function<std::uint64_t()> bytes_done = {};
    /// They go along with the run (companion.hpp).
    std::vector<std::shared_ptr<Companion>> companions = {};
    /// Called with the report after a run that did not fail.
    std::function<void(const RunReport&)> when_done = {};
};

/// The exit codes of a process.
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

/// Runs the graph to its end or to the signal that ends it, reports it on standard error, and
/// returns the exit code. Throws the error that ended the run early.
[[nodiscard]] int run_session(const Graph& graph, const RunOptions& options,
                              const SessionOptions& session = {});

/// Calls `body` and returns its result; an exception becomes one line on standard error and the
/// matching exit code.
[[nodiscard]] int with_errors_reported(const std::function<int()>& body) noexcept;

/// Writes `text` to `path`; a plain file is whole or as it was before. Throws InputOutputError.
void write_file(const std::string& path, std::string_view text);

}  // namespace strid
