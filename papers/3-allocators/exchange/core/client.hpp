// SPDX-License-Identifier: Apache-2.0
//
// A client's connection in the core: what it has sent that is no whole message yet, and what is
// still to be written to it. Of the thread that polls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <strid/engine/http/secure.hpp>

#include "fix/decoder.hpp"
#include "link/socket.hpp"

namespace strid::exchange {

struct Client {
    Client(std::uint64_t its_number, Socket its_socket, std::string its_name, std::int64_t now_ns)
        : number(its_number),
          socket(std::move(its_socket)),
          name(std::move(its_name)),
          message_since_ns(now_ns) {}

    /// As those of a Socket, which never wait.
    [[nodiscard]] std::ptrdiff_t send_some(std::string_view bytes);
    [[nodiscard]] std::ptrdiff_t receive_some(std::string& bytes, std::size_t bytes_max);
    /// Of the stream that has ended; empty where the client closed it.
    [[nodiscard]] std::string_view error() const noexcept {
        return tls ? std::string_view(tls->error()) : std::string_view();
    }

    std::uint64_t number;
    Socket socket;
    std::unique_ptr<http::SecureChannel> tls = {};  ///< over the socket; null: there is none
    std::string name;                               ///< its address, for the log
    fix::FrameCutter cutter{};
    std::string output = {};
    std::size_t written = 0;        ///< of output
    std::uint64_t written_all = 0;  ///< since the beginning
    std::string mark = {};          ///< goes to the link when `marked_at` bytes are written
    std::uint64_t marked_at = 0;
    std::int64_t read_ns = 0;  ///< when it last took some of the output, or there was none
    std::uint64_t frames = 0;
    std::uint64_t garbled = 0;
    /// Since when a message is waited for that is not whole; 0: none is begun. The first one is
    /// waited for from the beginning.
    std::int64_t message_since_ns;
    bool waits_for_room = false;  ///< its output: the poll reports when there is some
    bool closing = false;         ///< nothing is read any more; it ends when its output is written
};

}  // namespace strid::exchange
