// SPDX-License-Identifier: Apache-2.0
//
// Requests and responses over a connection, each within a time. Owns the descriptor. One thread.
//
// A server that reads no bodies serves one request: read_head(), write(), finish().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <strid/engine/http/listener.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::http {

/// How long peers may take. From the first byte to the last one, however many pieces it comes in.
struct ConnectionTimes {
    std::chrono::milliseconds request{5000};
    std::chrono::milliseconds response{10000};
    std::chrono::milliseconds at_end{1000};  ///< for a response, once the server ends
    std::chrono::milliseconds idle{5000};    ///< from a response to the next request
    std::chrono::milliseconds leaving{200};  ///< for what a peer sends that is not read
};

class Connection {
  public:
    /// `ending` becomes readable when the server ends. Encrypted where there is a `server`, which
    /// throws std::bad_alloc; the handshake is part of the first request.
    Connection(Descriptor socket, int ending, const ConnectionTimes& times,
               const SecureServer& server = nullptr)
        : socket_(std::move(socket)),
          channel_(server ? server(socket_.get()) : nullptr),
          ending_(ending),
          times_(times) {}

    /// Reads up to the empty line behind the headers. Returns 0, or the status of the fault: 408
    /// for a peer that was too slow, 431 for too long a head, and 499, to which no answer is sent,
    /// for a peer that left, that sends no further request, and for the end of the server.
    [[nodiscard]] int read_head(std::string& head);
    /// Sends all of it; false where the peer leaves or is too slow.
    bool write(std::string_view text) noexcept;
    /// Waits, and takes what the peer sends meanwhile.
    enum class Waited : std::uint8_t { until_then, peer_left, server_ends };
    [[nodiscard]] Waited wait_until(std::chrono::steady_clock::time_point until) noexcept;
    /// Reads some of what follows the head, within the time of the request. Returns as read_head().
    [[nodiscard]] int read_some(std::span<char> out, std::size_t& bytes);
    /// The last bytes that were read belong to the next request.
    void put_back(std::string_view text) { received_.insert(0, text); }
    /// The server ends: no further request is served.
    [[nodiscard]] bool server_ends() const noexcept { return server_ends_; }
    /// Ends the response, and takes what the peer has sent beyond its request for a moment, so that
    /// the response is not lost with it.
    void finish() noexcept;

  private:
    using Clock = std::chrono::steady_clock;

    /// Waits until the socket is ready for `events`. False: the time is over, or the server ends
    /// and `events` is for reading.
    [[nodiscard]] bool wait_for(short events, Clock::time_point until) noexcept;
    /// wait_for(POLLIN) where nothing is at hand.
    [[nodiscard]] bool wait_for_bytes(Clock::time_point until) noexcept;
    [[nodiscard]] SecureChannel::Step receive_step(std::span<char> out) noexcept;
    [[nodiscard]] SecureChannel::Step send_step(std::string_view text) noexcept;
    [[nodiscard]] int receive(std::span<char> out, std::size_t& bytes) noexcept;

    Descriptor socket_;
    std::unique_ptr<SecureChannel> channel_;  // null: as the bytes are
    int ending_;
    const ConnectionTimes& times_;
    bool server_ends_ = false;
    Clock::time_point latest_ = Clock::time_point::max();  // once the server ends
    Clock::time_point until_{};                            // of the request
    bool has_begun_ = false;                               // a request
    std::string received_;                                 // that was not read yet
};

}  // namespace strid::http
