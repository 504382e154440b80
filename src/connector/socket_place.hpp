// SPDX-License-Identifier: Apache-2.0
//
// The address of a socket with options, in its parts. Private to the connector room. A plain value.
//
//     tcp-listen://[HOST]:PORT?clients=20&framing=length32&message=1M&idle=1m
//         &certificate=FILE&key=FILE&authority=FILE
//     tcp-listen://[HOST]:PORT?slow=drop&waiting=1M&clients=64&await=1 (as an output)
//     tls://HOST:PORT?authority=FILE&certificate=FILE&key=FILE
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <strid/connector/transport.hpp>
#include <strid/engine/http/secure.hpp>

#include "message_cutter.hpp"

namespace strid::detail {

/// The common part of inputs and outputs. Throws GraphError.
struct SocketPlace {
    /// Takes the options of TLS.
    explicit SocketPlace(TransportAddress& from);

    std::string text;     // for messages
    std::string address;  // as SocketInput has them: without options
    bool listens = false;
    bool is_tls = false;  // a client that encrypts
    std::string host;     // that it connects to
    http::TlsFiles tls;   // none: as the bytes are, or a client without a certificate
};

/// The same with the options of inputs.
struct SocketInputPlace : SocketPlace {
    explicit SocketInputPlace(TransportAddress& from);

    std::size_t clients_max = 0;  // 0: one, whose end is the end of the input
    Framing framing = Framing::lines;
    std::size_t message_bytes_max = 0;
    std::chrono::milliseconds idle{0};  // a client that is silent for so long is closed; 0: none
};

/// The way with a reader whose rows find no room.
enum class SlowReader : std::uint8_t {
    waits,       // the graph waits for it
    loses_rows,  // the rows that find no room are dropped
    is_closed
};

/// The same with the options of outputs.
struct SocketOutputPlace : SocketPlace {
    explicit SocketOutputPlace(TransportAddress from);

    bool is_json = false;
    SlowReader slow = SlowReader::waits;
    std::size_t waiting_bytes_max = 0;   // of rows that wait for a reader
    std::size_t clients_max = 0;         // readers
    std::size_t await = 0;               // rows wait until so many have come
    std::chrono::milliseconds retry{0};  // for so long it is connected to again; 0: not
};

}  // namespace strid::detail
