// SPDX-License-Identifier: Apache-2.0
//
// The address of an input by HTTP in its parts. Private to the connector room. A plain value.
//
//     http-listen://[HOST]:PORT[/PATH]?body=16M&within=30s&waiting=64M&clients=64
//         &certificate=FILE&key=FILE
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <strid/connector/transport.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::detail {

struct HttpPlace {
    /// Reads the token from the environment. Throws GraphError.
    explicit HttpPlace(TransportAddress& from);

    std::string address;  // for messages
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    std::string path = "/";
    std::size_t body_bytes_max;
    std::chrono::milliseconds within;  // a request is read
    std::size_t waiting_bytes_max;
    std::size_t clients_max;  // connections that are open at once
    http::TlsFiles tls;       // none: as the bytes are
    std::string token;        // empty: none is needed
};

}  // namespace strid::detail
