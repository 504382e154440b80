// SPDX-License-Identifier: Apache-2.0
#include <array>
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
constexpr const char* certificate_help =
    "Speak TLS, with the certificate in this file (PEM, with those above it)";
constexpr const char* key_help = "The private key of the certificate";

/// A server whose options are complete when the command line is read.
class ServerByOptions final : public Companion {
  public:
    void read_address(const std::string& text) {
        read_http_address(text, options_);
        has_address_ = true;
    }
    void read_token_path(const std::string& text) { options_.token_path = text; }
    void read_certificate(const std::string& text) { options_.certificate_path = text; }
    void read_key(const std::string& text) { options_.key_path = text; }

    void prepare(const CompanionContext& context) override {
        if (!has_address_) {
            throw GraphError(
                "--http-token, --http-certificate and --http-key need --http HOST:PORT");
        }
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

struct HttpOption {
    const char* name;
    const char* type;
    ServerByOptions::Read read;
    const char* help;
};

constexpr std::array<HttpOption, 4> http_options{{
    {"--http", "HOST:PORT", &ServerByOptions::read_address, address_help},
    {"--http-token", "FILE", &ServerByOptions::read_token_path, token_help},
    {"--http-certificate", "FILE", &ServerByOptions::read_certificate, certificate_help},
    {"--http-key", "FILE", &ServerByOptions::read_key, key_help},
}};

}  // namespace

void add_http_options(CLI::App& app, SessionOptions& session) {
    const auto server = std::make_shared<ServerByOptions>();
    for (const HttpOption& one : http_options) {
        add_text_option(app, one.name, one.type, ServerByOptions::reader(session, server, one.read),
                        one.help);
    }
}

void add_http_options(Arguments& arguments) {
    SessionOptions& session = arguments.run().session;
    const auto server = std::make_shared<ServerByOptions>();
    for (const HttpOption& one : http_options) {
        arguments.option(one.name, ServerByOptions::reader(session, server, one.read), one.help,
                         {.type = one.type});
    }
}

}  // namespace strid::operate
