// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <strid/base/error.hpp>
#include <strid/engine/http/secure.hpp>
#include <strid/tls/tls.hpp>

namespace strid {

namespace tls {

namespace {

using http::SecureChannel;

struct FreeContext {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};
struct FreeConnection {
    void operator()(SSL* connection) const noexcept { SSL_free(connection); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

/// In OpenSSL's words.
std::string first_error() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
    const char* const reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : "the file cannot be used";
}

[[noreturn]] void fail(const std::string& file) {
    throw InputOutputError(fmt::format("{}: {}", file, first_error()));
}

/// A password is never asked for: no terminal may be there.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
    return -1;
}

int length_of(std::size_t bytes) noexcept {
    return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX));
}

class Channel final : public SecureChannel {
  public:
    /// Throws std::bad_alloc.
    Channel(SSL_CTX* context, int socket) : connection_(SSL_new(context)) {
        if (connection_ == nullptr || SSL_set_fd(connection_.get(), socket) != 1) {
            throw std::bad_alloc();
        }
        SSL_set_accept_state(connection_.get());
    }

    Step receive(std::span<char> out) noexcept override {
        if (is_over_) return {};
        ERR_clear_error();
        return step(SSL_read(connection_.get(), out.data(), length_of(out.size())));
    }
    Step send(std::string_view text) noexcept override {
        if (is_over_) return {};
        ERR_clear_error();
        return step(SSL_write(connection_.get(), text.data(), length_of(text.size())));
    }
    [[nodiscard]] bool has_bytes() const noexcept override {
        return SSL_pending(connection_.get()) > 0;
    }
    void announce_end() noexcept override {
        if (is_over_ || SSL_in_init(connection_.get()) != 0) return;
        ERR_clear_error();
        (void)SSL_shutdown(connection_.get());
    }
    [[nodiscard]] const std::string& error() const noexcept override { return error_; }

  private:
    Step step(int result) noexcept {
        if (result > 0) return {.bytes = static_cast<std::size_t>(result)};
        switch (SSL_get_error(connection_.get(), result)) {
            case SSL_ERROR_WANT_READ:
                return {.events = POLLIN};
            case SSL_ERROR_WANT_WRITE:
                return {.events = POLLOUT};
            case SSL_ERROR_SSL:
                note_error();
                [[fallthrough]];
            default:
                is_over_ = true;
                ERR_clear_error();
                return {};
        }
    }
    void note_error() noexcept {
        try {
            error_ = "TLS: " + first_error();
        } catch (...) {  // no memory: the connection is over without a reason
        }
    }

    std::unique_ptr<SSL, FreeConnection> connection_;
    std::string error_;
    bool is_over_ = false;
};

http::SecureServer make_server(const http::TlsFiles& files) {
    ERR_clear_error();
    const std::shared_ptr<SSL_CTX> context = Context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* const made = context.get();
    if (made == nullptr) fail("TLS");
    SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
    SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(made, no_password);
    if (SSL_CTX_use_certificate_chain_file(made, files.certificate.c_str()) != 1) {
        fail(files.certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(made, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(made) != 1) {
        fail(files.key);
    }
    return [context](int socket) { return std::make_unique<Channel>(context.get(), socket); };
}

}  // namespace

}  // namespace tls

void use_tls() {
    http::serve_tls_by(&tls::make_server);
}

}  // namespace strid
