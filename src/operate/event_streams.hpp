// SPDX-License-Identifier: Apache-2.0
//
// Server-sent events: each viewer gets the report of the run once a second over its connection,
// which it keeps. Owns the text of the last event, which is made once for all viewers. serve() may
// be called by many threads at once.
//
// Invariant: no more than `streams_max` viewers have a stream, so that other requests find threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <strid/engine/http/connection.hpp>
#include <strid/engine/http/http_text.hpp>

namespace strid::operate {

using http::Connection;
using http::HttpResponse;

class EventStreams {
  public:
    /// One event.
    struct Event {
        std::string data;      ///< One line; empty: the run has not begun.
        bool is_last = false;  ///< The run is over.
    };

    /// `make` is called by one thread at a time, and must not throw but std::bad_alloc.
    EventStreams(std::size_t streams_max, std::function<Event()> make)
        : streams_max_(streams_max), make_(std::move(make)) {}

    /// The answer to a request for the stream: its head and what stands before the first event.
    [[nodiscard]] static HttpResponse head();
    /// Sends this head, an event at once and one each second. Returns when the run is over or the
    /// server ends, both after a last event, and when the peer leaves or is too slow. Where too
    /// many have a stream, sends a 503.
    void serve(Connection& connection, const HttpResponse& head);

  private:
    using Clock = std::chrono::steady_clock;
    /// An event as it is sent.
    struct Text {
        std::string text;
        bool is_last;
    };

    [[nodiscard]] std::shared_ptr<const Text> text_of(std::int64_t second);
    void send_all(Connection& connection);

    const std::size_t streams_max_;
    const std::function<Event()> make_;
    std::atomic<std::size_t> streams_{0};
    std::mutex mutex_;
    // Under mutex_:
    std::shared_ptr<const Text> last_;
    std::int64_t second_ = 0;  // of last_
};

}  // namespace strid::operate
