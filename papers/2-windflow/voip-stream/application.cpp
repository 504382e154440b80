// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <chrono>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "pairs.hpp"
#include "voip_stream.hpp"

namespace strid::apps {

namespace {

using voip_stream::Filters;
using voip_stream::Form;

class VoipStream final : public Application {
  public:
    VoipStream() : Application("voip-stream") {}

    void add_own_options(CLI::App& command) override {
        const auto seconds = [&command](const char* name, std::chrono::seconds& value,
                                        const char* help) {
            add_text_option(
                command, name, "TIME",
                [&value](const std::string& text) { value = whole_seconds(text); }, help);
        };
        const auto number = [&command](const char* name, std::uint64_t& value, std::uint64_t most,
                                       const char* help) {
            add_text_option(
                command, name, "N",
                [&value, most](const std::string& text) {
                    value = read_whole_number(text);
                    if (value == 0 || value > most)
                        throw GraphError(fmt::format("'{}' is not between 1 and {}", text, most));
                },
                help);
        };
        add_choice<Filters>(command, "--filters", options_.filters,
                            {{"bloom", Filters::bloom}, {"exact", Filters::exact}},
                            "How counts and pairs are kept");
        add_choice<Form>(command, "--form", options_.form,
                         {{"compact", Form::compact}, {"full", Form::full}, {"paper", Form::paper}},
                         "The graph: few operators, one for each feature as in figure 11 of paper "
                         "2, or\nthose whose blocks its table 3 counts, without chaining; with the "
                         "same answer");
        number("--numbers", options_.numbers, numbers_max,
               "Numbers that the filters are made for (default 100k)");
        number("--pairs", options_.pairs, pairs_max,
               "Pairs of numbers in a --memory that they are made for (default 1M)");
        seconds("--short", options_.short_time,
                "Time that the rates of calls decay with "
                "(default 6h)");
        seconds("--long", options_.long_time, "Time that durations decay with (default 24h)");
        seconds("--memory", options_.memory,
                "A callee is new when it was not called in this time or the one before (default "
                "168h)");
        seconds("--jump", options_.jump,
                "A call that starts so long after the latest before it is malformed (default "
                "720h)");
        add_decimal_option(command, "--threshold", options_.threshold,
                           "Calls with a score below it are left out");
        add_decimal_option(command, "--telemarketers", options_.telemarketers,
                           "With --generate: their share of the numbers");
        command.add_option("--calls", options_.calls_path, "Write the calls there, too")
            ->type_name("FILE");
        command
            .add_option("--telemarketers-file", options_.truth_path,
                        "With --generate: write there which numbers are telemarketers")
            ->type_name("FILE");
    }
    [[nodiscard]] GraphForm form() const noexcept override {
        return options_.form == Form::paper ? GraphForm::paper : GraphForm::own;
    }
    void check_own() const override {
        if (!(options_.telemarketers >= 0 && options_.telemarketers <= 0.5))
            throw GraphError("--telemarketers must be a share from 0 to 0.5");
    }
    [[nodiscard]] std::vector<FileUse> files() const override {
        if (options_.truth_path.empty()) return {};
        return {{.kind = FileUse::Kind::writes,
                 .path = options_.truth_path,
                 .user = "--telemarketers-file"}};
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        voip_stream::build(graph, endpoints, options_);
    }

  private:
    /// 64 GB of counts.
    static constexpr std::uint64_t numbers_max = 100'000'000;
    static constexpr std::uint64_t pairs_max =
        voip_stream::FilterPairs::lines_max * voip_stream::shards * 40;

    static std::chrono::seconds whole_seconds(const std::string& text) {
        const std::chrono::nanoseconds time = read_duration(text);
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
        if (seconds != time || seconds.count() < 1 || seconds > std::chrono::hours{24 * 366})
            throw GraphError(fmt::format("'{}' is not whole seconds, 1s to 8784h", text));
        return seconds;
    }

    voip_stream::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_voip_stream() {
    return std::make_unique<VoipStream>();
}

}  // namespace strid::apps
