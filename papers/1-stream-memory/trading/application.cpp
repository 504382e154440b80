// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <algorithm>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "farm_sink.hpp"
#include "market.hpp"
#include "program.hpp"

namespace strid::apps {

namespace {

using trading::Format;

class Trading final : public Application {
  public:
    Trading() : Application("trading") {}

    void add_own_options(CLI::App& command) override {
        add_choice<Format>(
            command, "--format", options_.format,
            {{"by-content", Format::by_content}, {"csv", Format::csv}, {"itch", Format::itch}},
            "How the input is written; a pipe is taken for csv");
        add_text_option(
            command, "--columns", "C,C,C,C,C,C",
            [this](const std::string& text) {
                options_.columns =
                    read_columns(text, 6, "symbol, time, bid, ask, bid size and ask size");
            },
            "Which columns hold symbol, time, bid, ask and their sizes: names of the header, or\n"
            "numbers from 1 (default: symbol,time,bid,ask,bid_size,ask_size)");
        add_choice<std::int64_t>(
            command, "--time-unit", options_.time_unit_ns,
            {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"us", 1'000}, {"ns", 1}},
            "Of times that are numbers, in rows");
        add_number_option(command, "--decimals", options_.decimals, 0, trading::decimals_max,
                          "Places of a price in rows (default: 4)");
        add_number_option(command, "--window", options_.windows.length, 1, quotes_max,
                          "Quotes of a symbol in a window (default: 1000)");
        add_number_option(command, "--slide", options_.windows.slide, 1, quotes_max,
                          "From one window to the next (default: 25)");
        add_duration_option(command, "--resolution", options_.windows.model.resolution,
                            "Quotes of so long are one point of the model (default: 1ms)",
                            read_duration);
        add_number_option(command, "--degree", options_.windows.model.degree, 0, degree_max,
                          "Of the polynomial that is fitted to a window (default: 3)");
        add_memories(command);
        command.add_option("--quotes", options_.quotes, "Where the quotes themselves go, as CSV")
            ->type_name("FILE");
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        trading::build(graph, endpoints, options_);
    }

  private:
    static constexpr std::uint64_t quotes_max = 1'000'000;
    static constexpr std::uint64_t degree_max = 9;

    void add_memories(CLI::App& command) {
        std::vector<std::string> words{"engine", "engine-keys"};
        std::ranges::copy(trading::memory_names(), std::back_inserter(words));
        add_choice(
            command, "--memory", words,
            [this, words](std::size_t i) { options_.memory = words[i]; },
            "Which windows, and how quotes travel: those of the engine, shared by windows or by\n"
            "keys, or a farm of so many workers as --parallelism says, with this memory");
    }
    trading::ProgramOptions options_;
};

}  // namespace

std::unique_ptr<Application> make_trading() {
    return std::make_unique<Trading>();
}

}  // namespace strid::apps
