// SPDX-License-Identifier: Apache-2.0
//
// The end of a program's main(): runs a graph with the options of the command line, shows how far
// it is, ends it decently. Called by one thread at a time, which waits for the run.
#pragma once

#include <strid/graph/graph.hpp>

namespace strid {

/// Runs `graph` as the arguments say (--help lists them) and returns what main() should return.
///
/// On a terminal a line on standard error tells rate, latency, the part done and the time left;
/// nothing of it elsewhere. Ctrl-C (SIGINT, SIGTERM) stops the sources, drains and summarises; a
/// second one cancels. Signal handlers are there only while the run is. What fails is one line on
/// standard error. Returns 0 for a run to the end of its input, 1 for one that failed, 2 for
/// arguments or a graph that make no sense, 128 + the signal for one that a signal ended (141
/// where nobody reads standard output any more).
[[nodiscard]] int run(const Graph& graph, int argc, char** argv);

}  // namespace strid
