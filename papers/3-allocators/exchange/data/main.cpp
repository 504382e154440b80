// SPDX-License-Identifier: Apache-2.0
//
// strid-exchange-data: App3 of paper 3, the data manager: every order's transactional control. One
// graph:
//
//     link --(key: symbol)--> books --(in the order of the commands)--> journal --> sender
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/program/session.hpp>
#include <strid/stream/graph.hpp>

#include "data/check.hpp"
#include "data/committer.hpp"
#include "data/journal.hpp"
#include "data/link_source.hpp"
#include "data/options.hpp"
#include "data/sender.hpp"
#include "link/endpoint.hpp"
#include "link/log.hpp"

namespace strid::exchange {

namespace {

constexpr int backlog = 16;

std::shared_ptr<const Listing> read_listing(const std::string& path) {
    if (path.empty()) return std::make_shared<Listing>();
    std::ifstream file(path);
    if (!file) throw InputOutputError(path + ": cannot be read");
    std::set<std::string> symbols;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.empty()) continue;
        if (const std::string fault = fault_of_symbol(line); !fault.empty()) {
            throw InputOutputError(fmt::format("{}:{}: {}", path, number, fault));
        }
        symbols.insert(line);
    }
    if (file.bad()) throw InputOutputError(path + ": cannot be read");
    return std::make_shared<Listing>(std::move(symbols));
}

int serve(const DataOptions& options) {
    const Log log("data");
    Endpoint endpoint = read_endpoint(options.listen);
    const auto listing = read_listing(options.symbols);
    auto database = open_database(options.journal, Opening::write, options.sync);
    Recovered recovered = recover(*database, Opening::write);
    std::vector<Task> restored = std::move(recovered.tasks);
    Journal journal(std::move(database), std::move(recovered));

    Progress progress;
    // Relaxed: the threads that read this begin later.
    progress.last_report.store(journal.last_report(), std::memory_order_relaxed);
    progress.deleted_reports.store(journal.acknowledged(), std::memory_order_relaxed);
    progress.acknowledged.store(journal.acknowledged(), std::memory_order_relaxed);

    const auto open = [&options] {
        return open_database(options.journal, Opening::beside, options.sync);
    };
    Sender sender(open, {journal.last_report(), journal.next_command()},
                  {.heartbeat = options.heartbeat}, log);
    Socket listener = listen_on(endpoint, backlog);
    log.say(fmt::format("listening on {}; next command {}, last report {}", endpoint.to_text(),
                        journal.next_command(), journal.last_report()));
    const auto server =
        std::make_shared<LinkServer>(std::move(listener), std::move(restored),
                                     journal.next_command(), listing, progress, sender, log);

    Graph graph{"exchange-data"};
    graph.source(LinkSource{server}, {.name = "link", .parallelism = 1})
        .key_by<&Task::symbol>()
        .map(MatchSymbol{listing}, {.name = "books"})
        .sink(Committer{journal, progress, sender, options.commands_max}, {.name = "journal"});
    SessionOptions session = options.run.session;
    session.zero_on_sigterm = true;
    const int code = run_session(graph, options.run.run, session);
    sender.stop();
    return code;
}

int run(int argc, const char* const* argv) {
    DataOptions options;
    if (const auto code = read_options(argc, argv, options)) return *code;
    if (options.check.empty()) return serve(options);
    write_file("-", check_journal(options.check));
    return ExitCode::done;
}

}  // namespace

}  // namespace strid::exchange

int main(int argc, char** argv) {
    ::umask(077);  // the journal has the orders of all users: for the owner alone
    return strid::with_errors_reported([argc, argv] { return strid::exchange::run(argc, argv); });
}
