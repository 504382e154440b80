// SPDX-License-Identifier: Apache-2.0
//
// Where a program listens or connects to: HOST:PORT or unix:PATH. Values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "link/socket.hpp"

namespace strid::exchange {

struct Endpoint {
    std::string host;        ///< a name or an address; empty for a socket of the file system
    std::uint16_t port = 0;  ///< 0 to listen: any that is free
    std::string path;        ///< of the socket in the file system

    [[nodiscard]] std::string to_text() const;
};

/// Throws GraphError where `text` is neither form.
[[nodiscard]] Endpoint read_endpoint(std::string_view text);

/// A socket that listens; sets `endpoint.port` to the one that it got. A socket of the file system
/// that no program listens on any more is replaced. Throws InputOutputError.
[[nodiscard]] Socket listen_on(Endpoint& endpoint, int backlog);

/// A socket that is connected. Throws InputOutputError; waits `timeout_ms` at most.
[[nodiscard]] Socket connect_to(const Endpoint& endpoint, int timeout_ms);

}  // namespace strid::exchange
