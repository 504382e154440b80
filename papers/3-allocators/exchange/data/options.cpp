// SPDX-License-Identifier: Apache-2.0
#include "data/options.hpp"

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

constexpr std::size_t commands_limit = 1'000'000;

const char* footer() {
    return R"(The session manager connects and sends commands; reports go back, durable before
they are sent. The journal is a file of SQLite, or a database:

  strid-exchange-data --listen 127.0.0.1:7002
  strid-exchange-data --listen unix:/run/data --journal postgresql://user@host/db
  strid-exchange-data --check exchange.journal      what does it hold, and is it sound?

Ctrl-C and SIGTERM: what has come in is carried out first. After a kill -9 the
next start goes on where the journal ends.)";
}

}  // namespace

std::optional<int> read_options(int argc, const char* const* argv, DataOptions& options) {
    CLI::App app{"The data manager of the exchange: books, matching, and the journal",
                 "strid-exchange-data"};
    app.footer(footer());
    CLI::Option* const listen =
        app.add_option("--listen", options.listen, "Where the session manager connects to")
            ->type_name("HOST:PORT|unix:PATH");
    app.add_option("--journal", options.journal,
                   "A file of SQLite, or a URI postgresql://... (default: exchange.journal)")
        ->type_name("FILE|URI");
    app.add_option("--symbols", options.symbols,
                   "The symbols that are traded, one a line (default: every symbol opens a book)")
        ->type_name("FILE");
    add_choice(app, "--sync", options.sync,
               {{"full", Sync::full}, {"normal", Sync::normal}, {"off", Sync::off}},
               "What a transaction waits for: full, the disk each time, survives the loss of "
               "power (default); normal and off survive kill -9");
    add_number_option(app, "--batch", options.commands_max, 1, commands_limit,
                      "Commands of one transaction at most (default: 1000)");
    add_text_option(
        app, "--heartbeat", "TIME",
        [&options](const std::string& text) {
            options.heartbeat =
                std::chrono::duration_cast<std::chrono::milliseconds>(read_duration(text));
            if (options.heartbeat.count() == 0) throw GraphError("less than a millisecond");
        },
        "Time without a message after which a heartbeat is sent (default: 1s)");
    CLI::Option* const check =
        app.add_option("--check", options.check, "Check a journal, print what it holds, and end")
            ->type_name("JOURNAL");
    listen->excludes(check);
    add_run_arguments(app, options.run);
    if (const auto code = parse_arguments(app, argc, argv)) return code;
    if (options.listen.empty() && options.check.empty()) {
        throw GraphError("--listen is missing (or --check)");
    }
    return std::nullopt;
}

}  // namespace strid::exchange
