// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection.hpp>
#include <strid/engine/http/connection_threads.hpp>
#include <strid/operate/http_server.hpp>

#include "event_streams.hpp"
#include "routes.hpp"
#include "token_file.hpp"

namespace strid::operate {

using http::Connection;
using http::ConnectionThreads;
using http::ConnectionTimes;
using http::Descriptor;
using http::Listener;
using http::read_head;
using http::text_of;

namespace {

std::string name_of_machine() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Descriptor event() {
    Descriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (made.get() < 0) {
        throw InputOutputError("--http: " + std::generic_category().message(errno));
    }
    return made;
}

Access access_of(const std::string& host, const Listener& listener, const TokenFile& token) {
    return {.host = host,
            .machine = name_of_machine(),
            .token = token.token(),
            .is_local = listener.is_local()};
}

}  // namespace

/// The server while it listens.
class HttpServer::State {
  public:
    State(const HttpOptions& options, const CompanionContext& context)
        : tls_(http::tls_server({options.certificate_path, options.key_path}, "--http")),
          listener_(options.host, options.port),
          token_(options.token_path),
          ending_(event()),
          routes_(access_of(options.host, listener_, token_), context),
          streams_(options.streams_max, [this] { return routes_.event(); }),
          connections_(options.connections_max,
                       [this](Descriptor socket) { serve(std::move(socket)); }),
          thread_([this] { listen(); }) {}
    ~State() {
        routes_.end();
        const std::uint64_t one = 1;
        (void)!::write(ending_.get(), &one, sizeof one);  // never read: it stays readable
        thread_.join();
        connections_.end();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void begin(Running& running) noexcept { routes_.begin(running); }
    [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
    [[nodiscard]] const Listener& listener() const noexcept { return listener_; }
    [[nodiscard]] const TokenFile& token() const noexcept { return token_; }

  private:
    void listen();
    void serve(Descriptor socket) noexcept;

    const http::SecureServer tls_;  // null: none
    const Listener listener_;
    const TokenFile token_;
    const Descriptor ending_;
    const ConnectionTimes times_{};
    Routes routes_;
    EventStreams streams_;
    ConnectionThreads connections_;
    std::thread thread_;  // last: it uses the rest
};

void HttpServer::State::listen() {
    strid::detail::name_this_thread("strid-http");
    static const std::string busy = text_of(plain(503, "too many connections"), true);
    connections_.take_from(listener_, ending_.get(), tls_ ? std::string_view{} : busy);
}

void HttpServer::State::serve(Descriptor socket) noexcept {
    try {
        Connection connection(std::move(socket), ending_.get(), times_, tls_);
        std::string head;
        HttpRequest request;
        int fault = connection.read_head(head);
        if (fault == 499) return;
        if (fault == 0) fault = read_head(head, request);
        const HttpResponse response =
            fault == 0 ? routes_.respond(request) : plain(fault, "the request is not served here");
        const bool has_body = request.method != "HEAD";
        if (response.is_stream && has_body) return streams_.serve(connection, response);
        connection.write(text_of(response, has_body));
        connection.finish();
    } catch (const std::exception&) {  // no memory: the connection is closed
    }
}

HttpServer::HttpServer(HttpOptions options) : options_(std::move(options)) {}

HttpServer::~HttpServer() = default;

void HttpServer::prepare(const CompanionContext& context) {
    state_ = std::make_unique<State>(options_, context);
    if (!context.say) return;
    const bool is_six = options_.host.find(':') != std::string::npos;
    context.say(fmt::format("strid: {}://{}{}{}:{}/ shows the run; the token is in {}{}\n",
                            state_->is_secure() ? "https" : "http", is_six ? "[" : "",
                            options_.host, is_six ? "]" : "", port(), token_path(),
                            state_->listener().is_local()
                                ? ""
                                : "; other machines reach it, and every request needs the token"));
}

void HttpServer::begin(Running& running) {
    if (state_) state_->begin(running);
}

void HttpServer::end() noexcept {
    state_.reset();
}

std::uint16_t HttpServer::port() const noexcept {
    return state_ ? state_->listener().port() : 0;
}

std::string HttpServer::token_path() const {
    return state_ ? state_->token().path() : std::string{};
}

void read_http_address(std::string_view text, HttpOptions& options) {
    const std::size_t colon = text.rfind(':');
    std::string_view host = text.substr(0, colon);
    const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
    if (is_bracketed) host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const char* const digits = colon == std::string_view::npos ? end : text.data() + colon + 1;
    const auto [stop, fault] = std::from_chars(digits, end, port);
    const bool has_port = digits != end && fault == std::errc{} && stop == end;
    if (!has_port || host.empty() || (!is_bracketed && host.find(':') != std::string_view::npos)) {
        throw GraphError(fmt::format(
            "'{}' is not an address to listen at, like 127.0.0.1:8080 or [::1]:8080", text));
    }
    options.host = host;
    options.port = port;
}

}  // namespace strid::operate
