// SPDX-License-Identifier: Apache-2.0
#include "event_streams.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace strid::operate {

namespace {

/// A place among the streams.
class Place {
  public:
    Place(std::atomic<std::size_t>& taken, std::size_t most) noexcept
        : taken_(taken), is_free_(taken.fetch_add(1, std::memory_order_relaxed) < most) {
        if (!is_free_) taken_.fetch_sub(1, std::memory_order_relaxed);
    }
    ~Place() {
        if (is_free_) taken_.fetch_sub(1, std::memory_order_relaxed);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] bool is_free() const noexcept { return is_free_; }

  private:
    std::atomic<std::size_t>& taken_;
    const bool is_free_;
};

constexpr const char* starting = ": the run is being started\n\n";

/// Later than any second of the clock.
constexpr std::int64_t end_of_server = std::numeric_limits<std::int64_t>::max();

}  // namespace

HttpResponse EventStreams::head() {
    // A browser asks again 1 s after the connection is lost. Proxies that would collect the events
    // pass each on.
    return {.body = "retry: 1000\n\n",
            .content_type = "text/event-stream",
            .headers = "X-Accel-Buffering: no\r\n",
            .is_stream = true};
}

void EventStreams::serve(Connection& connection, const HttpResponse& head) {
    const Place place(streams_, streams_max_);
    if (!place.is_free()) {
        HttpResponse full = http::plain(
            503,
            fmt::format("{} viewers have a stream of events, which is the limit", streams_max_));
        full.headers = "Retry-After: 5\r\n";
        connection.write(http::text_of(full, true));
    } else if (connection.write(http::text_of(head, true))) {
        send_all(connection);
    }
    connection.finish();
}

void EventStreams::send_all(Connection& connection) {
    for (;;) {
        const auto second = std::chrono::floor<std::chrono::seconds>(Clock::now());
        const auto event = text_of(second.time_since_epoch().count());
        if (!connection.write(event->text) || event->is_last) return;
        // The viewers wait for the same moment, so that one event serves them all.
        switch (connection.wait_until(second + std::chrono::seconds{1})) {
            case Connection::Waited::until_then:
                break;
            case Connection::Waited::peer_left:
                return;
            case Connection::Waited::server_ends:
                connection.write(text_of(end_of_server)->text);
                return;
        }
    }
}

std::shared_ptr<const EventStreams::Text> EventStreams::text_of(std::int64_t second) {
    const std::lock_guard lock(mutex_);
    if (last_ != nullptr && second <= second_) return last_;
    const Event event = make_();
    // A comment shows that the connection lives. It is not kept: the run may begin at any moment.
    if (event.data.empty()) return std::make_shared<const Text>(Text{starting, false});
    last_ =
        std::make_shared<const Text>(Text{fmt::format("data: {}\n\n", event.data), event.is_last});
    second_ = second;
    return last_;
}

}  // namespace strid::operate
