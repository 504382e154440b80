// SPDX-License-Identifier: Apache-2.0
//
// TLS for connections of clients, by OpenSSL; this side has the certificate. A stream is used by
// the thread that polls, and never waits: its calls are those of a Socket. The handshake is done by
// the first calls of receive_some().
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace strid::exchange {

class TlsStream {
  public:
    explicit TlsStream(ssl_st* connection) : connection_(connection) {}

    /// Appends what is there, `bytes_max` at most: 0 where nothing is there, -1 at the end.
    [[nodiscard]] std::ptrdiff_t receive_some(std::string& bytes, std::size_t bytes_max);
    /// How many bytes were taken, -1 where the other side is gone. The other bytes are
    /// given again, at the beginning of the next call.
    [[nodiscard]] std::ptrdiff_t send_some(std::string_view bytes);
    /// Announces the end to the other side, if there is room for it.
    void announce_end() noexcept;
    /// Why the stream has ended, for the log; empty where the other side closed it.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

  private:
    struct Free {
        void operator()(ssl_st* connection) const noexcept;
    };
    std::ptrdiff_t outcome_of(int result);

    std::unique_ptr<ssl_st, Free> connection_;
    std::string error_;
    bool is_over_ = false;
};

class TlsContext {
  public:
    /// Both are files in PEM: the certificate with those above it, and its key. Throws
    /// InputOutputError.
    TlsContext(const std::string& certificate, const std::string& key);

    /// Of a socket that was accepted, which outlives the stream; null where there is no memory.
    [[nodiscard]] std::unique_ptr<TlsStream> accept(int descriptor) const;

  private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };
    std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace strid::exchange
