// SPDX-License-Identifier: Apache-2.0
//
// A run watched and operated over HTTP: its figures for Prometheus and as JSON, whether it lives
// and is ready, a page that shows it, and stop and snapshot for those with the token
// (docs/operating.md). In a library of its own: link strid::operate.
//
//     strid::Arguments arguments{"means"};
//     strid::operate::add_http_options(arguments);  // --http HOST:PORT, --http-token FILE, ...
//     return strid::run(arguments, argc, argv, [] { return make_graph(); });
//
// A program that calls start() itself:
//
//     strid::operate::HttpServer server({.port = 8080});
//     server.prepare({.graph = graph, .options = options});
//     strid::Running running = strid::start(graph, options);
//     server.begin(running);
//     running.wait();
//     server.end();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <strid/program/companion.hpp>
#include <strid/program/program.hpp>
#include <strid/program/session.hpp>

namespace strid::operate {

/// Options of an HttpServer.
struct HttpOptions {
    /// The address to listen at, or the name of one. Other machines reach any but those of the
    /// loopback (127.0.0.1, ::1); the server then asks for the token at every request, which goes
    /// over the network as it is, unless there is a certificate.
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: one that is free.
    /// The file for the token, replaced; empty: a new one in $XDG_RUNTIME_DIR, else in /tmp.
    std::string token_path = {};
    /// A certificate and its key, files in PEM: the server speaks TLS, by strid::tls
    /// (strid/tls/tls.hpp). Both or none.
    std::string certificate_path = {};
    std::string key_path = {};  ///< See above.
    /// Connections that may be open at once; others get a 503. Each has a thread while it is open.
    std::size_t connections_max = 32;
    /// Streams of events that may be open at once, which pages keep; others get a 503. Fewer than
    /// the connections, so that a request of another kind always finds one.
    std::size_t streams_max = 16;
};

/// Reads `HOST:PORT`, `[::1]:PORT` into `host` and `port`. Throws GraphError.
void read_http_address(std::string_view text, HttpOptions& options);

/// Answers requests from prepare() to end(). Threads: one, besides those of the server.
class HttpServer final : public Companion {
  public:
    /// Does not listen yet.
    explicit HttpServer(HttpOptions options);
    /// As end().
    ~HttpServer() override;

    /// Listens, and answers that the run is not ready. Throws InputOutputError where the port is in
    /// use, or the token cannot be written. Without a `say` nothing is printed, without a `stop`
    /// Running::stop() is called.
    void prepare(const CompanionContext& context) override;
    /// From now on the figures of the run are served. `running` must stay where it is until end().
    void begin(Running& running) override;
    /// Ends connections that wait, finishes the responses that are under way (for 1 s at most), and
    /// removes the token.
    void end() noexcept override;

    /// The port that it listens at; 0 before prepare().
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// The file with the token; empty before prepare().
    [[nodiscard]] std::string token_path() const;

  private:
    class State;

    HttpOptions options_;
    std::unique_ptr<State> state_;  // while it listens
};

/// Adds --http, --http-token, --http-certificate and --http-key to a command line; the server
/// becomes a companion of `session`, which must outlive the parsing.
void add_http_options(CLI::App& app, SessionOptions& session);
/// The same for a program with options of its own.
void add_http_options(Arguments& arguments);

}  // namespace strid::operate
