// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/operate/http_server.hpp>
#include <strid/program/arguments.hpp>

namespace strid::operate {

namespace {

constexpr const char* address_help =
    "Show the run to browsers, as JSON and to Prometheus while it goes on, and take orders from "
    "those who have the token; port 0: one that is free";
constexpr const char* token_help =
    "Where the token is written, for its owner alone (default: a new file, which is named at the "
    "start)";

/// A server whose options are complete when the command line is read.
class ServerByOptions final : public Companion {
  public:
    void read_address(const std::string& text) {
        read_http_address(text, options_);
        has_address_ = true;
    }
    void read_token_path(const std::string& text) { options_.token_path = text; }

    void prepare(const CompanionContext& context) override {
        if (!has_address_) throw GraphError("--http-token needs --http HOST:PORT");
        server_.emplace(options_);
        server_->prepare(context);
    }
    void begin(Running& running) override { server_->begin(running); }
    void end() noexcept override { server_.reset(); }

    /// The one companion of a session, at the first of the options that is given.
    using Read = void (ServerByOptions::*)(const std::string&);
    static std::function<void(const std::string&)> reader(SessionOptions& session,
                                                          std::shared_ptr<ServerByOptions> server,
                                                          Read read) {
        return [&session, server = std::move(server), read](const std::string& text) {
            (server.get()->*read)(text);
            if (!std::exchange(server->is_added_, true)) session.companions.push_back(server);
        };
    }

  private:
    HttpOptions options_;
    bool has_address_ = false;
    bool is_added_ = false;
    std::optional<HttpServer> server_;
};

}  // namespace

void add_http_options(CLI::App& app, SessionOptions& session) {
    const auto server = std::make_shared<ServerByOptions>();
    add_text_option(app, "--http", "HOST:PORT",
                    ServerByOptions::reader(session, server, &ServerByOptions::read_address),
                    address_help);
    add_text_option(app, "--http-token", "FILE",
                    ServerByOptions::reader(session, server, &ServerByOptions::read_token_path),
                    token_help);
}

void add_http_options(Arguments& arguments) {
    SessionOptions& session = arguments.run().session;
    const auto server = std::make_shared<ServerByOptions>();
    arguments
        .option("--http", ServerByOptions::reader(session, server, &ServerByOptions::read_address),
                address_help, {.type = "HOST:PORT"})
        .option("--http-token",
                ServerByOptions::reader(session, server, &ServerByOptions::read_token_path),
                token_help, {.type = "FILE"});
}

}  // namespace strid::operate
