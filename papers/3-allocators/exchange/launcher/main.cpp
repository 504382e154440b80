// SPDX-License-Identifier: Apache-2.0
//
// strid-exchange: the three programs of the exchange as one, in a folder of data.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "launcher/folder_lock.hpp"
#include "launcher/password.hpp"
#include "launcher/supervisor.hpp"
#include "tools/common/interruption.hpp"

namespace {

using namespace strid;
using namespace strid::exchange;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto stop_patience = 30s;

void add_folder(CLI::App& command, ExchangeOptions& options) {
    command.add_option("--data", options.folder,
                       "folder of the journal, the sessions and the sockets between the programs "
                       "(default exchange-data)");
}

void add_start_options(CLI::App& start, ExchangeOptions& options) {
    start.add_option("--listen", options.listen,
                     "where clients connect: HOST:PORT or unix:PATH (default 127.0.0.1:7001)");
    start.add_option("--journal", options.journal,
                     "a file in the folder, or a URI postgresql://... (default journal.db)");
    add_choice(
        start, "--sync", {"full", "normal"},
        [&](std::size_t i) { options.sync = i == 0 ? "full" : "normal"; },
        "what is stored outlives loss of power (full, the default: each transaction waits for the "
        "disk), or kill -9 alone");
    start.add_option("--symbols", options.symbols,
                     "file of the symbols that are traded, one a line (default: any)");
    start.add_option("--comp-id", options.comp_id, "CompID of the exchange (default STRID)");
    start.add_option("--passwords", options.passwords,
                     "file of the users that may log on, written by `strid exchange password` "
                     "(default: any user, without a password)");
    CLI::Option* const certificate = start.add_option(
        "--tls-certificate", options.tls_certificate,
        "clients have to use TLS: the certificate of the exchange, with those above it, in PEM");
    CLI::Option* const key =
        start.add_option("--tls-key", options.tls_key, "its private key, in PEM");
    certificate->needs(key);
    key->needs(certificate);
    add_number_option(start, "--clients", options.clients_max, 1, 1'000'000,
                      "connections at once (default 20000)");
    add_number_option(start, "--workers", options.workers, 1, 64,
                      "threads of the session manager, and of the core each way (default 1)");
    start.add_flag("--quiet", options.quiet, "no log of sessions and connections");
}

int run_start(const ExchangeOptions& options, const tool::Interruption& interruption) {
    const Log log("exchange", options.quiet);
    // The folder and what is in it are the owner's.
    const mode_t mask = ::umask(077);
    std::error_code error;
    fs::create_directories(options.folder, error);
    if (error) throw InputOutputError(options.folder.string() + ": " + error.message());
    const FolderLock lock(options.folder);
    {
        Supervisor supervisor(programs_of(options), options.folder, mask, log);
        supervisor.run(interruption.requested());
    }
    interruption.check();
    return ExitCode::done;
}

pid_t holder_of(const ExchangeOptions& options) {
    if (const auto process = FolderLock::holder(options.folder)) return *process;
    throw InputOutputError(options.folder.string() + ": no exchange runs there");
}

int run_stop(const ExchangeOptions& options, const tool::Interruption& interruption) {
    const pid_t process = holder_of(options);
    ::kill(process, SIGTERM);
    const auto until = std::chrono::steady_clock::now() + stop_patience;
    while (FolderLock::holder(options.folder) == process) {
        interruption.check();
        if (std::chrono::steady_clock::now() > until) {
            throw InputOutputError(
                fmt::format("{}: process {} does not end", options.folder.string(), process));
        }
        std::this_thread::sleep_for(20ms);
    }
    return ExitCode::done;
}

int run_status(const ExchangeOptions& options) {
    std::string text = fmt::format("strid-exchange {}\n", holder_of(options));
    std::ifstream file(options.folder / "exchange.status");
    std::string name;
    long process = 0;
    long starts = 0;
    while (file >> name >> process >> starts) {
        text += process == 0 ? fmt::format("{} is started anew", name)
                             : fmt::format("{} {}", name, process);
        text += starts > 1 ? fmt::format(", started {} times\n", starts) : "\n";
    }
    std::fputs(text.c_str(), stdout);
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{
            "A trading middleware: FIX 4.4 clients, sessions, order books with price-time "
            "priority, and a journal. It loses and doubles nothing when a program of it is killed",
            "strid exchange"};
        app.footer(
            "  strid exchange start --data FOLDER     runs until Ctrl-C or `stop`\n"
            "  strid exchange password USER --passwords FILE\n"
            "  strid-exchange-load w1                 clients that buy and sell");
        app.require_subcommand(1);
        ExchangeOptions options;
        CLI::App* const start =
            app.add_subcommand("start", "run the three programs; one that is killed starts anew");
        CLI::App* const stop = app.add_subcommand("stop", "end the exchange of a folder");
        CLI::App* const status =
            app.add_subcommand("status", "print the processes of the exchange of a folder");
        PasswordOptions password_options;
        CLI::App* const password = app.add_subcommand(
            "password", "set the password of a user, which is read from standard input");
        add_password_options(*password, password_options);
        for (CLI::App* const command : {start, stop, status}) add_folder(*command, options);
        add_start_options(*start, options);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        if (password->parsed()) return run_password(password_options);
        if (stop->parsed()) return run_stop(options, interruption);
        if (status->parsed()) return run_status(options);
        return run_start(options, interruption);
    });
}
