// SPDX-License-Identifier: Apache-2.0
//
// The trading operator of paper 1 (section 5) in one of its variants, measured once. Prints one
// line of JSON; figures.py runs it for figures 5b, 6, 7 and table 1.
//
//   trading_bench --mode rate   --variant V --workers N   the highest input rate that is sustained:
//                 --arrivals day|flat: with the bursts of a trading day, the default, or one quote
//                 like the other; --zipf E: symbols by Zipf's law, by default those of the day
//   trading_bench --mode memory --variant V --workers N   resident memory while a day goes by
//   trading_bench --mode check  --variant V --workers N   every forecast compared
//   trading_bench --mode list                             the variants
//
// Every mode compares the answer with that of a plain loop over the same quotes, and the line names
// the library that malloc is taken from.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/statistics.hpp"
#include "memory_use.hpp"
#include "variants.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Settings {
    std::string mode = "rate";
    std::string variant = "engine";
    std::size_t workers = 2;
    std::uint32_t symbols = apps::trading::symbol_count;
    std::size_t degree = 3;  // 0: a light function, the mean
    double seconds = 0.5;    // of the closed-loop phase; of the day in mode memory
    double lateness_ms_max = 50;
    double latency_ms_p99_max = 50;
    int steps = 6;
    std::string arrivals = "day";  // in mode rate
    double zipf = -1;              // exponent, of the symbols in mode rate; -1: by the arrivals
    double day_quotes = 50e6;
    std::uint64_t quotes = 0;  // mode check
    std::size_t in_flight = 2048;
};

/// Quotes of each symbol, on average, before anything is measured: windows of 1,000 are full.
constexpr std::uint64_t fill_per_symbol = 1'100;
/// Forecasts are compared up to here: the first windows of most symbols.
constexpr std::uint64_t compared_per_symbol = 1'010;
/// Static memory is acquired for so many beside the quotes of the filling; it grows beyond them.
constexpr double quotes_per_second_max = 500'000;

struct Setup {
    explicit Setup(const Settings& settings)
        : fill(fill_per_symbol * settings.symbols),
          feed_options{.symbols = settings.symbols},
          model{.degree = settings.degree},
          farm{.workers = settings.workers, .in_flight = settings.in_flight} {
        const double seconds = settings.seconds * (settings.steps + 1);
        farm.quotes_max = fill + static_cast<std::size_t>(seconds * quotes_per_second_max);
    }

    void run_and_check(const Settings& settings, Feed& feed, Driver& driver, Answer& answer,
                       std::uint64_t forecasts_before) const {
        variant_named(settings.variant).run({farm, model, feed, driver, answer});
        const Checksum expected =
            sequential_checksum(feed_options, model, feed.quotes(), forecasts_before);
        if (answer.in_order() && answer.checksum() == expected && expected.forecasts != 0) return;
        throw std::runtime_error("wrong answer: " + settings.variant);
    }

    std::uint64_t fill;
    FeedOptions feed_options;
    apps::trading::PriceModel model;
    apps::trading::FarmOptions farm;
};

/// A path as a string of JSON.
std::string quoted(const std::string& path) {
    std::string text = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

void print(const Settings& settings, const std::string& figures) {
    std::printf(
        "{\"variant\": \"%s\", \"workers\": %zu, \"symbols\": %u, \"degree\": %zu, "
        "\"malloc\": %s, %s}\n",
        settings.variant.c_str(), settings.workers, settings.symbols, settings.degree,
        quoted(malloc_library()).c_str(), figures.c_str());
}

std::string field(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "\"%s\": %.6g", name, value);
    return text;
}

void measure_rate(const Settings& settings) {
    Setup setup(settings);
    const std::uint64_t compared = compared_per_symbol * settings.symbols;
    setup.feed_options.fill_quotes = setup.fill;
    const Arrivals arrivals = arrivals_named(settings.arrivals);
    if (arrivals == Arrivals::day) setup.feed_options.shape = apps::trading::DayShape{};
    if (settings.zipf >= 0) setup.feed_options.shape.zipf_exponent = settings.zipf;
    Feed feed(setup.feed_options);
    Answer answer(settings.symbols, compared);
    RateSearch search({.fill_quotes = setup.fill,
                       .closed_seconds = settings.seconds,
                       .lateness_seconds_max = settings.lateness_ms_max / 1e3,
                       .latency_seconds_p99_max = settings.latency_ms_p99_max / 1e3,
                       .steps = settings.steps,
                       .arrivals = arrivals},
                      feed, answer);
    setup.run_and_check(settings, feed, search, answer, compared);
    const SustainedPhase& sustained = search.sustained();
    print(settings, "\"arrivals\": \"" + settings.arrivals + "\", " +
                        field("closed", search.closed_rate()) + ", " +
                        field("sustained", sustained.rate) + ", " +
                        field("peak", sustained.peak_rate) + ", " +
                        field("latency_ms_p99", sustained.latency_seconds_p99 * 1e3) + ", " +
                        field("processor_us", search.processor_us_per_quote()) + ", " +
                        field("windows", static_cast<double>(answer.checksum().windows)));
}

/// The schedule of a day, and for another thread whether it goes by.
class WhileSteady final : public Driver {
  public:
    explicit WhileSteady(DaySchedule& day) : day_(day) {}

    std::size_t due(std::int64_t now_ns) override {
        const std::size_t due = day_.due(now_ns);
        // relaxed: nothing else is read by it.
        is_steady_.store(day_.is_steady() && !day_.finished(), std::memory_order_relaxed);
        return due;
    }
    void sent(std::size_t quotes) override { day_.sent(quotes); }
    [[nodiscard]] bool finished() const override { return day_.finished(); }
    [[nodiscard]] bool is_steady() const noexcept {
        return is_steady_.load(std::memory_order_relaxed);
    }

  private:
    DaySchedule& day_;
    std::atomic<bool> is_steady_{false};
};

void measure_memory(const Settings& settings) {
    Setup setup(settings);
    const std::uint64_t compared = compared_per_symbol * settings.symbols;
    setup.feed_options.fill_quotes = setup.fill;
    setup.feed_options.shape = apps::trading::DayShape{.quotes = settings.day_quotes};
    Feed feed(setup.feed_options);
    Answer answer(settings.symbols, compared);
    DaySchedule schedule(setup.fill, settings.seconds, feed, answer);
    const auto before = static_cast<double>(resident_bytes());

    std::vector<double> resident;
    {
        WhileSteady watched(schedule);
        std::jthread watch([&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::this_thread::sleep_for(std::chrono::milliseconds{50});
                if (watched.is_steady()) {
                    resident.push_back(static_cast<double>(resident_bytes()));
                }
            }
        });
        setup.run_and_check(settings, feed, watched, answer, compared);
    }
    if (resident.empty()) throw std::runtime_error("the day was too short to look at the memory");
    const Spread spread = spread_of(resident);
    print(settings, field("resident_mb", spread.median / 1e6) + ", " +
                        field("before_mb", before / 1e6) + ", " +
                        field("lateness_ms", schedule.lateness_seconds() * 1e3) + ", " +
                        field("quotes", static_cast<double>(feed.quotes())));
}

void check(const Settings& settings) {
    Setup setup(settings);
    const std::uint64_t quotes =
        settings.quotes != 0 ? settings.quotes : setup.fill + setup.fill / 4;
    setup.feed_options.shape = apps::trading::DayShape{};
    setup.feed_options.fill_quotes = setup.fill;
    Feed feed(setup.feed_options);
    Answer answer(settings.symbols, quotes);
    SendAll driver(quotes);
    setup.run_and_check(settings, feed, driver, answer, quotes);
    print(settings, field("windows", static_cast<double>(answer.checksum().windows)));
}

constexpr const char* help =
    R"(trading_bench [--mode rate|memory|check|list] [options, each with a value]

--mode rate   the highest rate of quotes that is sustained, found by search. Windows are filled
              first; a closed-loop phase of --seconds S gives the upper bound; then rates between 0
              and 1.1 times that are bisected in --steps N open-loop phases of as many quotes. A
              phase sends on a timetable of its mean rate and is sustained when
                - nothing is lost: all results are compared with a plain loop, as in every mode;
                - the backlog is bounded: no quote is sent later than --lateness-ms (50) behind its
                  time, and all results are out so soon behind the end of the timetable;
                - 99 % of the results are out within --latency-ms-p99 (50) of the time at which
                  the last quote of their window was due.
              --arrivals day (default): the times of the generator from the opening on, with its
              bursts, 50 times as fast as the day and scaled to the rate; symbols by Zipf's law.
              --arrivals flat: one quote like the other, all symbols alike.
              --zipf E: the exponent of the symbols in either.
--mode memory resident memory while a day of --day-quotes goes by for --seconds
--mode check  every forecast of --quotes compared
--mode list   the variants

Of all: --variant V --workers N --symbols N --degree N (0: a light function) --in-flight N
)";

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 2 && std::string_view{argv[1]} == "--help") {
        std::fputs(help, stdout);
        return 0;
    }
    Settings settings;
    CommandLine{{{"--mode", text_into(settings.mode)},
                 {"--variant", text_into(settings.variant)},
                 {"--workers", number_into(settings.workers)},
                 {"--symbols", number_into(settings.symbols)},
                 {"--degree", number_into(settings.degree)},
                 {"--seconds", number_into(settings.seconds)},
                 {"--lateness-ms", number_into(settings.lateness_ms_max)},
                 {"--latency-ms-p99", number_into(settings.latency_ms_p99_max)},
                 {"--steps", number_into(settings.steps)},
                 {"--arrivals", text_into(settings.arrivals)},
                 {"--zipf", number_into(settings.zipf)},
                 {"--day-quotes", number_into(settings.day_quotes)},
                 {"--quotes", number_into(settings.quotes)},
                 {"--in-flight", number_into(settings.in_flight)}}}
        .read(argc, argv);
    if (settings.mode == "list") {
        for (const Variant& one : variants()) {
            std::printf("%-18s %s\n", std::string(one.name).c_str(), std::string(one.what).c_str());
        }
    } else if (settings.workers == 0 || settings.symbols == 0) {
        throw std::invalid_argument("there has to be a worker and a symbol");
    } else if (settings.mode == "rate") {
        measure_rate(settings);
    } else if (settings.mode == "memory") {
        measure_memory(settings);
    } else if (settings.mode == "check") {
        check(settings);
    } else {
        throw std::invalid_argument("no mode " + settings.mode);
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "trading_bench: %s\n", error.what());
    return 1;
}
