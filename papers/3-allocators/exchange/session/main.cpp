// SPDX-License-Identifier: Apache-2.0
//
// strid-exchange-session: the session manager of the exchange (App2 of paper 3).
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "session/ledger.hpp"
#include "session/logon_gate.hpp"
#include "session/session_graph.hpp"
#include "tools/common/interruption.hpp"

namespace {

using namespace strid;
using namespace strid::exchange;
using namespace std::chrono_literals;

/// Actions of one transaction at most: what a client waits for behind others.
constexpr std::size_t transaction_actions_max = 512;
/// Commands that the data manager has not confirmed, before clients are held back.
constexpr std::size_t unconfirmed_max = 65536;
constexpr std::size_t unconfirmed_bytes_max = std::size_t{64} << 20;
/// Messages of clients that are not handled yet.
constexpr std::size_t events_bytes_max = std::size_t{32} << 20;
/// Of all sessions together, in the limits of one.
constexpr std::size_t all_sessions_factor = 64;

struct Arguments {
    std::string listen;
    std::string data;
    std::string store;
    std::string passwords;
    Durability durability = Durability::power;
    std::size_t workers = 1;
    bool quiet = false;
    SessionRules session;
};

void add_options(CLI::App& app, Arguments& arguments) {
    app.add_option("--listen", arguments.listen, "where the core connects: HOST:PORT or unix:PATH")
        ->required();
    app.add_option("--data", arguments.data, "where the data manager listens")->required();
    app.add_option("--store", arguments.store,
                   "file for the sequence numbers and messages of all users (SQLite)")
        ->required();
    add_choice(app, "--sync", arguments.durability,
               {{"full", Durability::power}, {"normal", Durability::process}},
               "what a commit outlives: loss of power (each waits for the disk), or the end of "
               "the process");
    add_number_option(app, "--waiting-bytes", arguments.session.waiting_bytes_max, 1024, 1 << 30,
                      "of a session: messages that came too early, or that wait behind a resend; a "
                      "session with more is ended (default 1 MiB), and when all have 64 times as "
                      "much");
    add_text_option(
        app, "--clock-difference", "TIME",
        [&](const std::string& text) {
            arguments.session.clock_difference_max = read_duration_or_zero(text);
        },
        "how far SendingTime (52) of a client may be from the clock of this machine (default "
        "2min; 0: it is not compared)");
    add_number_option(app, "--workers", arguments.workers, 1, 64, "threads for the sessions");
    app.add_option("--comp-id", arguments.session.exchange, "CompID of the exchange");
    app.add_option("--passwords", arguments.passwords,
                   "file of the users that may log on, each with a hash of its password, which "
                   "a Logon has in 554; `strid exchange password` writes it (default: any user, "
                   "without a password)");
    app.add_flag("--quiet", arguments.quiet, "no log");
}

/// The first error of any thread, which ends the program.
class FirstError {
  public:
    void set(std::exception_ptr error) {
        const std::lock_guard lock{mutex_};
        if (!error_) error_ = std::move(error);
    }
    [[nodiscard]] bool is_set() {
        const std::lock_guard lock{mutex_};
        return error_ != nullptr;
    }
    void rethrow() {
        const std::lock_guard lock{mutex_};
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::mutex mutex_;
    std::exception_ptr error_;  // guarded by mutex_
};

int run(Arguments& arguments, const tool::Interruption& interruption) {
    const Log log("session", arguments.quiet);
    arguments.session.waiting_bytes =
        std::make_shared<ByteBudget>(all_sessions_factor * arguments.session.waiting_bytes_max);
    const Endpoint listen = read_endpoint(arguments.listen);
    const Endpoint data_endpoint = read_endpoint(arguments.data);
    std::unique_ptr<Passwords> passwords;
    if (!arguments.passwords.empty()) {
        passwords = std::make_unique<Passwords>(arguments.passwords);
        if (passwords->others_may_read()) {
            log.say(arguments.passwords + ": other accounts may read this file");
        }
    }
    Store store(arguments.store, arguments.durability);
    SessionGraph sessions(store.users(), arguments.session, arguments.workers);
    FirstError failure;
    DataLink data(data_endpoint, {store.commands(), store.next_command(), store.reports()},
                  {[&](Event event) { return sessions.push(std::move(event)); },
                   [&](const std::string& text) {
                       failure.set(std::make_exception_ptr(
                           InputOutputError(fmt::format("{}: {}", arguments.store, text))));
                   }},
                  log);
    LogonGate gate(
        std::move(passwords), [&](Event event) { return sessions.push(std::move(event)); }, log);
    CoreLink core(
        listen,
        [&](Event event) {
            return data.wait_for_room(unconfirmed_max, unconfirmed_bytes_max) &&
                   gate.take(std::move(event));
        },
        events_bytes_max, log);
    Ledger ledger(store, core, data, log);
    std::atomic<bool> is_over{false};  // relaxed: a flag that is polled
    std::thread keeper([&] {
        try {
            std::vector<Action> actions;
            while (true) {
                if (ledger.has_resends()) {
                    sessions.try_pop(actions, transaction_actions_max);
                } else if (!sessions.pop(actions, transaction_actions_max)) {
                    break;
                }
                ledger.carry_out(actions);
            }
        } catch (...) {
            failure.set(std::current_exception());
            sessions.cancel();
        }
        is_over.store(true, std::memory_order_relaxed);
    });
    data.start();
    core.start();
    log.say(fmt::format("listens on {}", core.endpoint().to_text()));

    while (!interruption.requested() && !failure.is_set() &&
           !is_over.load(std::memory_order_relaxed)) {
        std::this_thread::sleep_for(50ms);
    }
    gate.stop();
    // Messages that have come in are carried out; the other side sends the rest again.
    sessions.stop();
    keeper.join();
    data.stop();
    failure.rethrow();
    sessions.wait();
    interruption.check();
    return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
    ::umask(077);  // the store has the messages of all users: for the owner alone
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{
            "The session manager of the exchange: FIX sessions of all users, their sequence "
            "numbers, heartbeats and resends",
            "strid-exchange-session"};
        Arguments arguments;
        add_options(app, arguments);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        return run(arguments, interruption);
    });
}
