// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

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
using SharedContext = std::shared_ptr<SSL_CTX>;

/// In OpenSSL's words, or in those of users where these say more.
std::string reason_of(unsigned long code) {
    if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
    if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
        switch (ERR_GET_REASON(code)) {
            case SSL_R_WRONG_VERSION_NUMBER:
            case SSL_R_HTTP_REQUEST:
            case SSL_R_HTTPS_PROXY_REQUEST:
            case SSL_R_PACKET_LENGTH_TOO_LONG:
                return "the other end does not speak TLS";
            default:
                break;
        }
    }
    const char* const reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : "the file cannot be used";
}

std::string first_error() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    return reason_of(code);
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

/// As OpenSSL's, without SIGPIPE.
int send_quietly(BIO* bio, const char* bytes, int size) {
    int socket = -1;
    BIO_get_fd(bio, &socket);
    BIO_clear_retry_flags(bio);
    const auto sent = static_cast<int>(
        ::send(socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT));
    if (sent <= 0 && BIO_sock_should_retry(sent) != 0) BIO_set_retry_write(bio);
    return sent;
}

const BIO_METHOD* quiet_socket() {
    static const BIO_METHOD* const made = [] {
        const BIO_METHOD* const usual = BIO_s_socket();
        BIO_METHOD* const one = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE");
        if (one == nullptr) return usual;
        BIO_meth_set_write(one, send_quietly);
        BIO_meth_set_read(one, BIO_meth_get_read(usual));
        BIO_meth_set_ctrl(one, BIO_meth_get_ctrl(usual));
        BIO_meth_set_create(one, BIO_meth_get_create(usual));
        BIO_meth_set_destroy(one, BIO_meth_get_destroy(usual));
        return static_cast<const BIO_METHOD*>(one);
    }();
    return made;
}

class Channel final : public SecureChannel {
  public:
    /// `host`: that of the server, for a client; null: this is the server. Throws std::bad_alloc.
    Channel(SSL_CTX* context, int socket, const std::string* host) : connection_(SSL_new(context)) {
        BIO* const bio = connection_ == nullptr ? nullptr : BIO_new(quiet_socket());
        if (bio == nullptr) throw std::bad_alloc();
        BIO_set_fd(bio, socket, BIO_NOCLOSE);
        SSL_set_bio(connection_.get(), bio, bio);
        if (host == nullptr) {
            SSL_set_accept_state(connection_.get());
            return;
        }
        SSL_set_connect_state(connection_.get());
        X509_VERIFY_PARAM* const wanted = SSL_get0_param(connection_.get());
        if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host->c_str()) == 1) return;
        ERR_clear_error();
        X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        if (X509_VERIFY_PARAM_set1_host(wanted, host->data(), host->size()) != 1 ||
            SSL_set_tlsext_host_name(connection_.get(), host->c_str()) != 1) {
            throw std::bad_alloc();
        }
    }

    Step receive(std::span<char> out) noexcept override {
        if (is_over_) return {};
        ERR_clear_error();
        errno = 0;
        return step(SSL_read(connection_.get(), out.data(), length_of(out.size())));
    }
    Step send(std::string_view text) noexcept override {
        if (is_over_) return {};
        ERR_clear_error();
        errno = 0;
        return step(SSL_write(connection_.get(), text.data(), length_of(text.size())));
    }
    [[nodiscard]] bool is_established() const noexcept override { return is_established_; }
    [[nodiscard]] bool has_bytes() const noexcept override {
        return SSL_pending(connection_.get()) > 0;
    }
    void announce_end() noexcept override {
        if (has_failed_ || !is_established_) return;
        ERR_clear_error();
        (void)SSL_shutdown(connection_.get());
    }
    [[nodiscard]] const std::string& error() const noexcept override { return error_; }
    [[nodiscard]] bool was_cut() const noexcept override { return was_cut_; }

  private:
    Step step(int result) noexcept {
        const int system_error = errno;  // before a call that may change it
        // An error ends the state, too.
        is_established_ = is_established_ || SSL_is_init_finished(connection_.get()) == 1;
        if (result > 0) return {.bytes = static_cast<std::size_t>(result)};
        switch (SSL_get_error(connection_.get(), result)) {
            case SSL_ERROR_WANT_READ:
                return {.events = POLLIN};
            case SSL_ERROR_WANT_WRITE:
                return {.events = POLLOUT};
            case SSL_ERROR_SSL:
                note_error();
                has_failed_ = true;
                break;
            case SSL_ERROR_ZERO_RETURN:
                break;
            default:
                if (is_established_) note_cut(system_error);
                has_failed_ = true;
                break;
        }
        is_over_ = true;
        ERR_clear_error();
        return {};
    }
    /// The system has ended a connection that the peer has not: bytes may be missing.
    void note_cut(int system_error) noexcept {
        was_cut_ = true;
        try {
            if (system_error != 0) error_ = std::generic_category().message(system_error);
        } catch (...) {  // no memory: was_cut() says it
        }
    }
    void note_error() noexcept {
        try {
            const long verified = SSL_get_verify_result(connection_.get());
            error_ = "TLS: ";
            if (!is_established_ && verified != X509_V_OK) {
                error_ += std::string("the certificate of the other end is refused: ") +
                          X509_verify_cert_error_string(verified);
            } else if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
                was_cut_ = true;
                error_.clear();
            } else {
                error_ += first_error();
            }
        } catch (...) {  // no memory: the connection is over without a reason
        }
    }

    std::unique_ptr<SSL, FreeConnection> connection_;
    std::string error_;
    bool is_established_ = false;
    bool is_over_ = false;
    bool has_failed_ = false;
    bool was_cut_ = false;
};

SharedContext make_context(const SSL_METHOD* method, const http::TlsFiles& files) {
    ERR_clear_error();
    const SharedContext context = Context(SSL_CTX_new(method));
    SSL_CTX* const made = context.get();
    if (made == nullptr) fail("TLS");
    SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
    SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(made, no_password);
    if (!files.certificate.empty()) {
        if (SSL_CTX_use_certificate_chain_file(made, files.certificate.c_str()) != 1) {
            fail(files.certificate);
        }
        if (SSL_CTX_use_PrivateKey_file(made, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
            SSL_CTX_check_private_key(made) != 1) {
            fail(files.key);
        }
    }
    if (!files.authority.empty() && SSL_CTX_load_verify_file(made, files.authority.c_str()) != 1) {
        fail(files.authority);
    }
    return context;
}

SharedContext make_server_context(const http::TlsFiles& files) {
    const SharedContext context = make_context(TLS_server_method(), files);
    if (files.authority.empty()) return context;
    STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(files.authority.c_str());
    if (names == nullptr) fail(files.authority);
    SSL_CTX_set_client_CA_list(context.get(), names);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    constexpr std::string_view sessions = "strid";  // of clients with certificates
    SSL_CTX_set_session_id_context(context.get(),
                                   reinterpret_cast<const unsigned char*>(sessions.data()),
                                   static_cast<unsigned>(sessions.size()));
    return context;
}

/// The files of a server, and what was read of them. Any thread.
class ServerFiles {
  public:
    explicit ServerFiles(http::TlsFiles files)
        : files_(std::move(files)), context_(make_server_context(files_)) {}

    [[nodiscard]] SharedContext context() const {
        const std::lock_guard lock(mutex_);
        return context_;
    }
    [[nodiscard]] SharedContext read() const { return make_server_context(files_); }
    [[nodiscard]] const void* owner() const noexcept { return files_.owner; }
    void set(SharedContext context) {
        const std::lock_guard lock(mutex_);
        context_.swap(context);
    }

  private:
    const http::TlsFiles files_;
    mutable std::mutex mutex_;
    SharedContext context_;  // under mutex_
};

/// All that connections may come to. Any thread.
class Servers {
  public:
    [[nodiscard]] static Servers& of_process() {
        static Servers all;
        return all;
    }
    void add(const std::shared_ptr<ServerFiles>& server) {
        const std::lock_guard lock(mutex_);
        std::erase_if(servers_, [](const auto& one) { return one.expired(); });
        servers_.push_back(server);
    }
    /// One that a newer one of its owner has replaced may live on with its connections. It makes
    /// no more of them, and its files may be gone.
    std::size_t reload() {
        const std::lock_guard lock(mutex_);
        std::vector<std::pair<std::shared_ptr<ServerFiles>, SharedContext>> read;
        std::set<const void*> owners;
        for (auto one = servers_.rbegin(); one != servers_.rend(); ++one) {
            auto server = one->lock();
            if (server == nullptr) continue;
            const void* const owner = server->owner();
            if (owner != nullptr && !owners.insert(owner).second) continue;
            read.emplace_back(server, server->read());
        }
        for (auto& [server, context] : read) server->set(std::move(context));
        return read.size();
    }

  private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<ServerFiles>> servers_;  // the newest last; under mutex_
};

http::SecureServer make_server(const http::TlsFiles& files) {
    const auto server = std::make_shared<ServerFiles>(files);
    Servers::of_process().add(server);
    return [server](int socket) {
        return std::make_unique<Channel>(server->context().get(), socket, nullptr);
    };
}

http::SecureClient make_client(const http::TlsFiles& files, const std::string& host) {
    const SharedContext context = make_context(TLS_client_method(), files);
    if (files.authority.empty() && SSL_CTX_set_default_verify_paths(context.get()) != 1) {
        fail("the authorities of the system");
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    return [context, host](int socket) {
        return std::make_unique<Channel>(context.get(), socket, &host);
    };
}

}  // namespace

}  // namespace tls

void use_tls() {
    http::use_tls_library({.server = &tls::make_server, .client = &tls::make_client, .reload = [] {
                               return tls::Servers::of_process().reload();
                           }});
}

}  // namespace strid
