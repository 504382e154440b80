// SPDX-License-Identifier: Apache-2.0
//
// strid-exchange-core: the network of the exchange (App1 of paper 3).
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <strid/program/arguments.hpp>

#include "core/core.hpp"
#include "tools/common/interruption.hpp"

namespace {

using namespace strid;
using namespace strid::exchange;

struct Arguments {
    std::string listen;
    std::string session;
    bool quiet = false;
    CoreOptions core;
};

void add_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--listen", arguments.listen, "where clients connect: HOST:PORT or unix:PATH")
        ->required();
    app.add_option("--session", arguments.session, "where the session manager listens")->required();
    CLI::Option* const certificate =
        app.add_option("--tls-certificate", arguments.core.tls_certificate,
                       "clients have to use TLS (1.2 or later): the certificate of the exchange, "
                       "with those above it, in PEM");
    CLI::Option* const key =
        app.add_option("--tls-key", arguments.core.tls_key, "its private key, in PEM");
    certificate->needs(key);
    key->needs(certificate);
    add_number_option(app, "--clients", arguments.core.clients_max, 1, 1'000'000,
                      "connections at once; more wait in the system");
    add_number_option(
        app, "--output-bytes", arguments.core.output_bytes_max, 1024, 1 << 30,
        "a client for which more waits to be read, and that takes nothing for 2 s, is "
        "closed (default 1 MiB); so is one for which 16 times as much waits, or when 256 times "
        "as much waits for all");
    add_text_option(
        app, "--message-time", "TIME",
        [&](const std::string& text) {
            arguments.core.message_ns_max = read_duration(text).count();
        },
        "a client whose message is not whole after so long is closed (default 10s)");
    add_number_option(app, "--workers", arguments.core.workers, 1, 64,
                      "threads that check sums and read fields, each way");
    app.add_flag("--quiet", arguments.quiet, "no log");
}

/// Each client is a descriptor, and a few more are needed; as many as the system lets.
void raise_descriptor_limit(std::size_t clients_max) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t wanted = clients_max + 64;
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur =
        limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= wanted ? wanted : limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(Arguments& arguments, const tool::Interruption& interruption) {
    const Log log("core", arguments.quiet);
    arguments.core.listen = read_endpoint(arguments.listen);
    arguments.core.session = read_endpoint(arguments.session);
    // OpenSSL writes to sockets without MSG_NOSIGNAL.
    ::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit(arguments.core.clients_max);
    Core core(arguments.core, log);
    log.say(fmt::format("listens on {}", core.endpoint().to_text()));
    core.run(interruption.requested());
    interruption.check();
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{
            "The core services of the exchange: connections of clients, FIX 4.4 over TCP, its "
            "lengths and sums",
            "strid-exchange-core"};
        Arguments arguments;
        add_options(app, arguments);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        return run(arguments, interruption);
    });
}
