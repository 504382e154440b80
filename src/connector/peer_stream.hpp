// SPDX-License-Identifier: Apache-2.0
//
// One connection of a socket, encrypted or not, whose calls never wait. Owns the descriptor.
// Private to the connector room. One thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <strid/engine/http/listener.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::detail {

class PeerStream {
  public:
    using Step = http::SecureChannel::Step;

    /// Over a socket that does not block. Encrypted where `secure` is not null; throws
    /// std::bad_alloc.
    PeerStream(http::Descriptor socket, const http::SecureServer& secure);

    /// As those of a SecureChannel.
    [[nodiscard]] Step receive(std::span<char> out);
    [[nodiscard]] Step send(std::string_view text);
    /// Whether there is a handshake that is not over.
    [[nodiscard]] bool is_in_handshake() const noexcept {
        return channel_ && !channel_->is_established();
    }
    /// Whether receive() has bytes that were taken from the socket already.
    [[nodiscard]] bool has_bytes() const noexcept { return channel_ && channel_->has_bytes(); }
    /// Why the connection is over; empty where the peer has ended it.
    [[nodiscard]] const std::string& error() const noexcept {
        return channel_ && error_.empty() ? channel_->error() : error_;
    }
    /// Whether the peer has ended it without saying so, where the protocol has that.
    [[nodiscard]] bool was_cut() const noexcept { return channel_ && channel_->was_cut(); }
    /// Nothing follows.
    void announce_end() noexcept;
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  private:
    http::Descriptor socket_;
    std::unique_ptr<http::SecureChannel> channel_;  // null: as the bytes are
    std::string error_;
};

}  // namespace strid::detail
