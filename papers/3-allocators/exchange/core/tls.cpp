// SPDX-License-Identifier: Apache-2.0
#include "core/tls.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

constexpr std::size_t record_bytes = std::size_t{16} << 10;

/// The first error that waits, in OpenSSL's words.
std::string error_text() {
    const unsigned long code = ERR_get_error();
    const char* const reason = ERR_reason_error_string(code);
    ERR_clear_error();
    return reason != nullptr ? reason : "the file cannot be used";
}

[[noreturn]] void fail(const std::string& file) {
    throw InputOutputError(fmt::format("{}: {}", file, error_text()));
}

/// A password is never asked for: no terminal may be there.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
    return -1;
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* connection) const noexcept {
    SSL_free(connection);
}

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept {
    SSL_CTX_free(context);
}

TlsContext::TlsContext(const std::string& certificate, const std::string& key)
    : context_(SSL_CTX_new(TLS_server_method())) {
    if (context_ == nullptr) throw InputOutputError("TLS: " + error_text());
    SSL_CTX* const context = context_.get();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) fail(certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) fail(key);
    if (SSL_CTX_check_private_key(context) != 1) fail(key);
}

std::unique_ptr<TlsStream> TlsContext::accept(int descriptor) const {
    SSL* const connection = SSL_new(context_.get());
    if (connection == nullptr) return nullptr;
    auto stream = std::make_unique<TlsStream>(connection);
    if (SSL_set_fd(connection, descriptor) != 1) return nullptr;
    SSL_set_accept_state(connection);
    return stream;
}

// 0 where the call is to be made again later, -1 at the end.
std::ptrdiff_t TlsStream::outcome_of(int result) {
    switch (SSL_get_error(connection_.get(), result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
            return 0;
        case SSL_ERROR_SSL:
            error_ = "TLS: " + error_text();
            [[fallthrough]];
        default:
            is_over_ = true;
            return -1;
    }
}

std::ptrdiff_t TlsStream::receive_some(std::string& bytes, std::size_t bytes_max) {
    if (is_over_) return -1;
    // A whole record at least: what stays in the stream is nothing that a poll would report.
    bytes_max = std::max(bytes_max, record_bytes);
    const std::size_t before = bytes.size();
    while (bytes.size() - before + record_bytes <= bytes_max) {
        const std::size_t end = bytes.size();
        bytes.resize(end + record_bytes);
        ERR_clear_error();
        const int result =
            SSL_read(connection_.get(), bytes.data() + end, static_cast<int>(record_bytes));
        bytes.resize(end + static_cast<std::size_t>(std::max(result, 0)));
        if (result > 0) continue;
        const std::ptrdiff_t outcome = outcome_of(result);
        return end == before ? outcome : static_cast<std::ptrdiff_t>(end - before);
    }
    return static_cast<std::ptrdiff_t>(bytes.size() - before);
}

std::ptrdiff_t TlsStream::send_some(std::string_view bytes) {
    if (is_over_) return -1;
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const auto part = static_cast<int>(std::min<std::size_t>(bytes.size() - sent, INT_MAX));
        ERR_clear_error();
        const int result = SSL_write(connection_.get(), bytes.data() + sent, part);
        if (result <= 0) {
            if (outcome_of(result) < 0) return -1;
            break;
        }
        sent += static_cast<std::size_t>(result);
    }
    return static_cast<std::ptrdiff_t>(sent);
}

void TlsStream::announce_end() noexcept {
    if (is_over_ || SSL_in_init(connection_.get()) != 0) return;
    ERR_clear_error();
    (void)SSL_shutdown(connection_.get());
}

}  // namespace strid::exchange
