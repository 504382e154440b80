// SPDX-License-Identifier: Apache-2.0
//
// The documents of the server, and what its requests do to the run. begin() is called by one thread
// and before the run is destroyed nothing answers any more; respond() may be called by many at
// once.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <strid/engine/http/http_text.hpp>
#include <strid/program/companion.hpp>

#include "access.hpp"
#include "event_streams.hpp"

namespace strid::operate {

class Routes {
  public:
    /// Copies what it needs of the context. Throws GraphError where the graph cannot be run.
    Routes(Access access, const CompanionContext& context);

    void begin(Running& running) noexcept;
    /// The run is over: it is not ready any more.
    void end() noexcept;
    /// Never throws but std::bad_alloc.
    [[nodiscard]] HttpResponse respond(const HttpRequest& request);
    /// The report of now, for the streams of events.
    [[nodiscard]] EventStreams::Event event() const;

  private:
    [[nodiscard]] HttpResponse answer(const HttpRequest& request);
    [[nodiscard]] HttpResponse ready() const;
    [[nodiscard]] HttpResponse metrics() const;
    [[nodiscard]] HttpResponse report() const;
    [[nodiscard]] HttpResponse refused() const;
    [[nodiscard]] HttpResponse stop();
    [[nodiscard]] HttpResponse snapshot() const;

    const Access access_;
    const std::string graph_;      // as JSON
    const std::string snapshots_;  // the folder
    const std::function<void()> stop_run_;
    const std::function<bool()> is_stopping_;
    std::atomic<Running*> running_{nullptr};
    std::atomic<bool> stop_is_asked_{false};  // relaxed: only /readyz depends on it
};

}  // namespace strid::operate
