// SPDX-License-Identifier: Apache-2.0
//
// Connections that are encrypted, of servers and of clients. The core has no cryptography:
// strid::tls, a library over OpenSSL, enters itself here when a program includes its header
// (strid/tls/tls.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace strid::http {

/// One side of a connection, over a socket that does not block and outlives it. The first calls of
/// receive() or send() are the handshake. No call raises SIGPIPE. One thread.
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
    /// Whether the handshake is over: the peer is the one that it should be.
    [[nodiscard]] virtual bool is_established() const noexcept = 0;
    /// Whether receive() has bytes that were taken from the socket already.
    [[nodiscard]] virtual bool has_bytes() const noexcept = 0;
    /// Tells the peer that nothing follows, if there is room for it.
    virtual void announce_end() noexcept = 0;
    /// Why the connection is over, for a log; empty where the peer has closed it.
    [[nodiscard]] virtual const std::string& error() const noexcept = 0;
    /// Whether the peer has closed it without saying so in the protocol: bytes may be missing.
    [[nodiscard]] virtual bool was_cut() const noexcept = 0;
};

/// Makes the channel of a socket that was accepted. Throws std::bad_alloc. Any thread.
using SecureServer = std::function<std::unique_ptr<SecureChannel>(int socket)>;

/// The same of a socket that is connected to a server.
using SecureClient = SecureServer;

/// Files in PEM. Of a client all may be missing: the system's authorities are trusted then.
struct TlsFiles {
    std::string certificate = {};  ///< Of this side, and those above it.
    std::string key = {};          ///< Its private key, without a password.
    /// Certificates that those of the other side must be signed by. A server that has none asks
    /// clients for no certificate.
    std::string authority = {};
    /// Of a server: what takes connections by it. Of servers with one owner the newest has taken
    /// the place of the others, and reload_tls() reads it alone. Null: it is the only one.
    const void* owner = nullptr;
};

/// The functions of a library of cryptography. Each throws InputOutputError for files that are of
/// no use, with the file and the reason.
struct TlsLibrary {
    std::function<SecureServer(const TlsFiles&)> server = {};  ///< See tls_server().
    /// The channels verify that the certificate of the server is of this host.
    std::function<SecureClient(const TlsFiles&, const std::string& host)> client = {};
    /// See reload_tls().
    std::function<std::size_t()> reload = {};
};

/// From now on `library` makes channels. Any thread.
void use_tls_library(TlsLibrary library);

/// Null where no files are given. `name` begins messages. Throws GraphError where the certificate
/// or its key is missing, or the program has no TLS; InputOutputError.
[[nodiscard]] SecureServer tls_server(const TlsFiles& files, const std::string& name);
/// Never null: the certificate and the name of the server are verified. Throws as tls_server().
[[nodiscard]] SecureClient tls_client(const TlsFiles& files, const std::string& host,
                                      const std::string& name);
/// Reads the files of all servers of the process once more, for connections that come from now on.
/// Returns the number of servers. Where one is of no use all stay as they are: throws
/// InputOutputError. Any thread.
std::size_t reload_tls();

}  // namespace strid::http
