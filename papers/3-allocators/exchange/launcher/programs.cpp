// SPDX-License-Identifier: Apache-2.0
#include "launcher/programs.hpp"

#include <utility>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

namespace fs = std::filesystem;

// Names without a folder: the path of a socket may have 107 bytes only.
constexpr const char* data_socket = "unix:data.socket";
constexpr const char* session_socket = "unix:session.socket";

ProgramCall call(const std::string& name, std::vector<std::string> arguments) {
    const fs::path path =
        fs::read_symlink("/proc/self/exe").parent_path() / ("strid-exchange-" + name);
    if (!fs::exists(path)) throw InputOutputError(path.string() + ": is not installed");
    return {name, path, std::move(arguments)};
}

/// Of a file that is named in another folder than that of the data.
std::string absolute(const std::string& path) {
    return fs::absolute(path).string();
}

}  // namespace

std::vector<ProgramCall> programs_of(const ExchangeOptions& options) {
    std::vector<std::string> data{"--listen",      data_socket, "--journal",
                                  options.journal, "--sync",    options.sync};
    if (!options.symbols.empty()) {
        data.insert(data.end(), {"--symbols", absolute(options.symbols)});
    }
    std::vector<std::string> session{
        "--listen",    session_socket, "--data",     data_socket, "--store",
        "sessions.db", "--sync",       options.sync, "--workers", std::to_string(options.workers),
        "--comp-id",   options.comp_id};
    std::vector<std::string> core{"--listen",  options.listen,
                                  "--session", session_socket,
                                  "--clients", std::to_string(options.clients_max),
                                  "--workers", std::to_string(options.workers)};
    if (!options.passwords.empty()) {
        session.insert(session.end(), {"--passwords", absolute(options.passwords)});
    }
    if (!options.tls_certificate.empty()) {
        core.insert(core.end(), {"--tls-certificate", absolute(options.tls_certificate),
                                 "--tls-key", absolute(options.tls_key)});
    }
    if (options.quiet) {
        session.emplace_back("--quiet");
        core.emplace_back("--quiet");
    }
    return {call("data", std::move(data)), call("session", std::move(session)),
            call("core", std::move(core))};
}

}  // namespace strid::exchange
