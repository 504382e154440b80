// SPDX-License-Identifier: Apache-2.0
//
// A companion goes along with a run of run_session(): a log of reports, a server of figures. The
// session borrows it for the length of a call.
#pragma once

#include <functional>
#include <string>

#include <strid/stream/graph.hpp>

namespace strid {

/// A session offers this to its companions, from prepare() to end().
struct CompanionContext {
    const Graph& graph;         ///< The graph of the run.
    const RunOptions& options;  ///< The options of the run.
    /// Writes whole lines to the user, on standard error. Any thread.
    std::function<void(const std::string&)> say = {};
    /// Stops the run as a SIGTERM does, with its exit code; once, however often it is called. Any
    /// thread.
    std::function<void()> stop = {};
    /// Whether a signal or stop() has asked the run to end. Any thread.
    std::function<bool()> is_stopping = {};
};

/// Goes along with a run. The thread of the session calls the three functions, in this order.
class Companion {
  public:
    Companion() = default;
    virtual ~Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;

    /// Before the run is started and reads any input. An exception is the error of the session.
    virtual void prepare(const CompanionContext& context) = 0;
    /// The run is on. Not called where it could not be started.
    virtual void begin(Running& running) = 0;
    /// The run is over, or could not be started. Returns when nothing uses the context or the run
    /// any more. Called wherever prepare() was called, also where that threw.
    virtual void end() noexcept = 0;
};

}  // namespace strid
