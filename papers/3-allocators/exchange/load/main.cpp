// SPDX-License-Identifier: Apache-2.0
//
// strid-exchange-load: the load generators w1 and w2 of paper 3.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/base/json_text.hpp>
#include <strid/program/arguments.hpp>

#include "load/load_run.hpp"
#include "tools/common/interruption.hpp"

namespace {

using namespace strid;
using namespace strid::exchange;
using namespace strid::exchange::load;

/// Of the exchange in the paper: half past nine to four.
constexpr double trading_day_s = 6.5 * 3600;

struct Arguments {
    LoadOptions load;
    std::string connect = "127.0.0.1:7001";
    double rate = 0;
    double speed = 0;
    bool json = false;
};

void add_options(CLI::App& app, Arguments& arguments) {
    LoadOptions& load = arguments.load;
    app.add_option("--connect", arguments.connect,
                   "where the core listens: HOST:PORT or unix:PATH (default 127.0.0.1:7001)");
    add_number_option(app, "--sessions", load.sessions, 1, 100'000,
                      "clients, each with a session (default 2)");
    add_number_option(app, "--orders", load.orders, 1, 1'000'000'000,
                      "requests of all clients together (default 20000)");
    add_number_option(app, "--symbols", load.symbols, 1, 10'000, "what is traded (default 10)");
    add_number_option(app, "--window", load.window, 1, 1'000'000,
                      "requests of a client that wait for an answer at once (default 16)");
    add_number_option(app, "--seed", load.seed, 0, 1'000'000'000'000, "of all that is drawn");
    app.add_option("--user-prefix", load.user_prefix, "CompIDs of the clients (default W)");
    app.add_option("--symbol-prefix", load.symbol_prefix, "of the symbols (default SYM)");
    app.add_option("--run", load.run, "in each ClOrdID; by default the time in milliseconds");
    app.add_option("--comp-id", load.exchange, "CompID of the exchange (default STRID)");
    add_text_option(
        app, "--timeout", "TIME",
        [&](const std::string& text) { load.timeout_ns = read_duration(text).count(); },
        "the run fails when nothing comes for so long (default 60s)");
    app.add_flag("--json", arguments.json, "the figures as JSON");
}

void add_rates(CLI::App& app, Arguments& arguments) {
    CLI::Option* const rate = app.add_option_function<std::string>(
        "--rate", [&](const std::string& text) { arguments.rate = read_rate(text); },
        "requests a second in the mean; without, as fast as the windows let them");
    app.add_option_function<std::string>(
           "--speed", [&](const std::string& text) { arguments.speed = read_rate(text); },
           "a trading day of 6.5 hours is gone through so many times as fast")
        ->excludes(rate);
}

double milliseconds(const LoadFigures& figures, double part) {
    const auto& values = figures.response_ns;
    const auto last = static_cast<double>(values.size() - 1);
    return static_cast<double>(values[static_cast<std::size_t>(part * last)]) / 1e6;
}

double mean_milliseconds(const LoadFigures& figures) {
    const double sum = std::accumulate(figures.response_ns.begin(), figures.response_ns.end(), 0.0);
    return sum / static_cast<double>(figures.response_ns.size()) / 1e6;
}

std::string as_json(const Arguments& arguments, const LoadFigures& figures) {
    const double rate = static_cast<double>(figures.requests) / figures.seconds;
    return fmt::format(
        "{{\"workload\": \"{}\", \"sessions\": {}, \"seed\": {}, \"requests\": {}, "
        "\"seconds\": {:.6f}, \"requests_per_second\": {:.1f}, \"trades\": {}, \"rejects\": {}, "
        "\"reconnects\": {}, \"response_ms\": {{\"mean\": {:.4f}, \"p50\": {:.4f}, "
        "\"p90\": {:.4f}, \"p99\": {:.4f}, \"p999\": {:.4f}, \"max\": {:.4f}}}}}\n",
        arguments.load.kind == Kind::w1 ? "w1" : "w2", arguments.load.sessions, arguments.load.seed,
        figures.requests, figures.seconds, rate, figures.trades, figures.rejects,
        figures.reconnects, mean_milliseconds(figures), milliseconds(figures, 0.5),
        milliseconds(figures, 0.9), milliseconds(figures, 0.99), milliseconds(figures, 0.999),
        milliseconds(figures, 1));
}

std::string as_text(const LoadFigures& figures) {
    return fmt::format(
        "{} requests in {:.3f} s: {:.0f}/s, {} trade reports, {} rejects, {} reconnects\n"
        "response time in ms: mean {:.3f}, 50 % {:.3f}, 90 % {:.3f}, 99 % {:.3f}, 99.9 % {:.3f}, "
        "longest {:.3f}\n",
        figures.requests, figures.seconds, static_cast<double>(figures.requests) / figures.seconds,
        figures.trades, figures.rejects, figures.reconnects, mean_milliseconds(figures),
        milliseconds(figures, 0.5), milliseconds(figures, 0.9), milliseconds(figures, 0.99),
        milliseconds(figures, 0.999), milliseconds(figures, 1));
}

void raise_descriptor_limit(std::size_t sessions) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= sessions + 64) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, sessions + 64);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(Arguments& arguments, const tool::Interruption& interruption) {
    LoadOptions& load = arguments.load;
    load.connect = read_endpoint(arguments.connect);
    if (load.kind == Kind::w1 && load.sessions % 2 != 0) {
        throw GraphError("--sessions: w1 needs an even number");
    }
    if (arguments.rate > 0) load.seconds = static_cast<double>(load.orders) / arguments.rate;
    if (arguments.speed > 0) load.seconds = trading_day_s / arguments.speed;
    if (load.run.empty()) {
        using namespace std::chrono;
        load.run = std::to_string(
            duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
                .count());
    }
    raise_descriptor_limit(load.sessions);
    LoadRun generator(load);
    const LoadFigures figures = generator.run(interruption.requested());
    Destination output("-", Writing::whole);
    output.open();
    output.write(arguments.json ? as_json(arguments, figures) : as_text(figures),
                 interruption.requested());
    output.commit(interruption.requested());
    if (figures.faults.empty()) return ExitCode::done;
    std::string text = figures.faults.front();
    if (figures.faults.size() > 1) text += fmt::format(" (and {} more)", figures.faults.size() - 1);
    throw Error("the exchange is wrong: " + text);
}

}  // namespace

int main(int argc, char** argv) {
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{
            "Clients of the exchange: they send orders, measure the time to the first answer, and "
            "check that each was answered once and that all trades add up",
            "strid-exchange-load"};
        app.require_subcommand(1);
        Arguments arguments;
        CLI::App* const w1 =
            app.add_subcommand("w1", "simultaneous buys and sells, the same for the same seed");
        CLI::App* const w2 = app.add_subcommand(
            "w2", "sequences of orders by market rules, with the arrivals of a trading day");
        for (CLI::App* const command : {w1, w2}) {
            add_options(*command, arguments);
            add_rates(*command, arguments);
        }
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        arguments.load.kind = w1->parsed() ? Kind::w1 : Kind::w2;
        return run(arguments, interruption);
    });
}
