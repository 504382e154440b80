// SPDX-License-Identifier: Apache-2.0
//
// The session manager's side of the link to the core, one core at a time: a thread takes its
// messages as events, any thread sends. When the link ends, all its connections are closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "link/endpoint.hpp"
#include "link/log.hpp"
#include "session/action.hpp"
#include "session/byte_budget.hpp"

namespace strid::exchange {

/// Which link a connection came by, and its number in that core.
[[nodiscard]] constexpr std::uint64_t link_of(ConnectionId connection) noexcept {
    return connection >> 40;
}
[[nodiscard]] constexpr std::uint64_t number_in_core(ConnectionId connection) noexcept {
    return connection & ((std::uint64_t{1} << 40) - 1);
}

class CoreLink {
  public:
    /// `take` gets each event, on the thread of the link, and may wait; false ends the thread.
    using Take = std::function<bool(Event)>;

    /// Listens. Throws InputOutputError. The events that are not handled yet keep `bytes_max` at
    /// most: more messages wait in the socket.
    CoreLink(Endpoint endpoint, Take take, std::size_t bytes_max, const Log& log);
    ~CoreLink();
    CoreLink(const CoreLink&) = delete;
    CoreLink& operator=(const CoreLink&) = delete;

    void start();
    /// Frames for connections that came by `link`; nothing where that is over.
    void send(std::uint64_t link, std::string_view bytes);
    [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }

  private:
    void run();
    bool serve(Socket& socket);
    bool handle(fix::Message&& message);
    bool handle_written(const fix::Message& message, ConnectionId connection);
    std::shared_ptr<const fix::Message> in_budget(fix::Message&& message);
    bool end_connections();

    Endpoint endpoint_;
    Take take_;
    std::shared_ptr<ByteBudget> budget_;
    const Log& log_;
    Socket listener_;
    std::atomic<bool> ended_{false};  // relaxed: a flag that is polled
    std::mutex mutex_;
    Socket socket_;           // guarded by mutex_ where it is changed or sent to
    std::uint64_t link_ = 0;  // guarded by mutex_
    std::unordered_map<ConnectionId, std::string> users_;  // of the thread of the link
    std::thread thread_;
};

}  // namespace strid::exchange
