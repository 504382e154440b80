// SPDX-License-Identifier: Apache-2.0
//
// An input that is one connection, encrypted or in messages with their length in front: of a client
// that connects to a server, or of the first client at a socket that listens. Its end is the end of
// the input. Private to the connector room. One thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <strid/connector/transport.hpp>
#include <strid/engine/http/secure.hpp>
#include <strid/operator/run_scope.hpp>

#include "message_cutter.hpp"
#include "peer_stream.hpp"
#include "socket_input.hpp"
#include "socket_place.hpp"

namespace strid::detail {

class SocketStream final : public TransportInput {
  public:
    /// Listens, or begins to connect. Throws GraphError, InputOutputError.
    explicit SocketStream(SocketInputPlace place);

    ByteReader::Result read(std::span<char> out, int wait_ms) override;
    void take_last() noexcept override;
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept override {
        return text_.size() - given_;
    }
    /// Whole messages are given together.
    [[nodiscard]] std::uint64_t message_bytes_left() const noexcept override {
        return place_.framing == Framing::lines ? 0 : text_.size() - given_;
    }

  private:
    [[nodiscard]] bool connect(int wait_ms);
    [[nodiscard]] bool receive(int wait_ms);
    void end();
    [[noreturn]] void fail(const std::string& reason) const;

    const SocketInputPlace place_;
    RunScope* const run_;
    const http::SecureServer secure_;  // null: as the bytes are
    std::unique_ptr<SocketInput> socket_;
    std::unique_ptr<PeerStream> peer_;
    std::chrono::steady_clock::time_point handshake_until_;
    MessageCutter cutter_;
    std::string text_;
    std::size_t given_ = 0;  // of the text
    bool has_ended_ = false;
};

}  // namespace strid::detail
