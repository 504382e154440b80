// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph from main() with the options of the command line, and shows progress and a summary.
// One thread at a time may call it, and waits for the run.
#pragma once

#include <strid/stream/graph.hpp>

namespace strid {

/// Runs `graph` as the arguments say (--help lists them) and returns what main() should return.
///
/// If standard error is a terminal, a line there shows rate, latency, the part done and the time
/// left. Ctrl-C (SIGINT, SIGTERM) stops the sources, drains and summarises; a second one cancels.
/// Signal handlers are installed only during the run. An error is reported as one line on standard
/// error. Returns 0 for a run to the end of its input, 1 for one that failed, and 2 for invalid
/// arguments or an invalid graph. A run that a signal ended returns 128 + the signal; 141 where the
/// reader of standard output has closed the pipe.
[[nodiscard]] int run(const Graph& graph, int argc, char** argv);

}  // namespace strid
