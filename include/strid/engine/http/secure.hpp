// SPDX-License-Identifier: Apache-2.0
//
// Connections of a server that are encrypted. The core has no cryptography: strid::tls, a library
// over OpenSSL, enters itself here when a program includes its header (strid/tls/tls.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace strid::http {

/// The server's side of a connection, over a socket that does not block and outlives it. The first
/// calls of receive() are the handshake. One thread.
class SecureChannel {
  public:
    SecureChannel() = default;
    SecureChannel(const SecureChannel&) = delete;
    SecureChannel& operator=(const SecureChannel&) = delete;
    virtual ~SecureChannel() = default;

    /// The outcome of a call: bytes were moved, or the socket is to be waited for, by poll() with
    /// these events; neither: the connection is over.
    struct Step {
        std::size_t bytes = 0;
        short events = 0;
    };
    [[nodiscard]] virtual Step receive(std::span<char> out) noexcept = 0;
    [[nodiscard]] virtual Step send(std::string_view text) noexcept = 0;
    /// Whether receive() has bytes that were taken from the socket already.
    [[nodiscard]] virtual bool has_bytes() const noexcept = 0;
    /// Tells the peer that nothing follows, if there is room for it.
    virtual void announce_end() noexcept = 0;
    /// Why the connection is over, for a log; empty where the peer has closed it.
    [[nodiscard]] virtual const std::string& error() const noexcept = 0;
};

/// Makes the channel of a socket that was accepted. Throws std::bad_alloc. Any thread.
using SecureServer = std::function<std::unique_ptr<SecureChannel>(int socket)>;

/// Two files in PEM.
struct TlsFiles {
    std::string certificate = {};  ///< That of the server, and those above it.
    std::string key = {};          ///< Its private key, without a password.
};

/// From now on tls_server() calls `make`, which throws InputOutputError for files that are of no
/// use. Any thread.
void serve_tls_by(std::function<SecureServer(const TlsFiles&)> make);

/// Null where no files are given. `name` begins messages. Throws GraphError where one of the two is
/// missing, or the program has no TLS; InputOutputError.
[[nodiscard]] SecureServer tls_server(const TlsFiles& files, const std::string& name);

}  // namespace strid::http
