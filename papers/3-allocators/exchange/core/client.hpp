// SPDX-License-Identifier: Apache-2.0
//
// A client's connection in the core: what it has sent that is no whole message yet, and what is
// still to be written to it. Of the thread that polls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "fix/decoder.hpp"
#include "link/socket.hpp"

namespace strid::exchange {

struct Client {
    Client(std::uint64_t its_number, Socket its_socket, std::string its_name, std::int64_t now_ns)
        : number(its_number),
          socket(std::move(its_socket)),
          name(std::move(its_name)),
          message_since_ns(now_ns) {}

    std::uint64_t number;
    Socket socket;
    std::string name;  ///< its address, for the log
    fix::FrameCutter cutter{};
    std::string output = {};
    std::size_t written = 0;   ///< of output
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
