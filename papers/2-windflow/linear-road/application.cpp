// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "linear_road.hpp"

namespace strid::apps {

namespace {

class LinearRoad final : public Application {
  public:
    LinearRoad() : Application("linear-road") {}

    void add_own_options(CLI::App& command) override {
        const auto number = [&command](const char* name, std::int32_t& value, std::uint64_t least,
                                       std::uint64_t most, const char* help) {
            add_number_option(
                command, name, least, most,
                [&value](std::uint64_t given) { value = static_cast<std::int32_t>(given); }, help);
        };
        number("--expressways", options_.expressways, 1, linear_road::expressways_max,
               "How many there are: records of others are malformed (default: 32768); so many are "
               "made\n(default: 1)");
        add_decimal_option(command, "--pace", options_.pace,
                           "Seconds of the input a second: 1 hands records out when their times "
                           "say, and counts late\nanswers; 0: as fast as it goes");
        number("--minutes", minutes_, 1, 10'000,
               "Make the records of so many minutes instead of reading them");
        number("--cars", options_.traffic.cars, 60, 10'000'000,
               "On each expressway in the last second, of records that are made "
               "(default: 50000)");
        add_text_option(
            command, "--accident-every", "TIME",
            [this](const std::string& text) {
                const auto every = std::chrono::ceil<std::chrono::seconds>(read_duration(text));
                if (every > std::chrono::hours{24 * 366})
                    throw GraphError("'" + text + "' is too long a time: 8784h at the most");
                options_.traffic.accident_every = static_cast<std::int32_t>(every.count());
            },
            "On each expressway, of records that are made (default: 20m)");
        add_choice<linear_road::Layout>(
            command, "--layout", options_.layout,
            {{"fused", linear_road::Layout::fused}, {"operators", linear_road::Layout::operators}},
            "All rules of a road in one operator, or one for each");
        command.add_flag("--write-input", options_.writes_input,
                         "The records themselves are the output");
        add_form_option(command);
    }
    void check_own() const override {
        if (form() == GraphForm::paper && options_.layout != linear_road::Layout::fused)
            throw GraphError("--form paper and --layout operators exclude each other");
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        linear_road::Options options = options_;
        if (form() == GraphForm::paper) options.layout = linear_road::Layout::paper;
        options.makes_traffic = minutes_ > 0;
        options.traffic.expressways = std::max(options.expressways, 1);
        if (minutes_ > 0) options.traffic.seconds = minutes_ * 60;
        if (side_file().empty()) {
            return linear_road::build(graph, endpoints, options,
                                      CurrentTable<linear_road::HistoryTable>{});
        }
        const auto history = linear_road::read_history(side_file());
        linear_road::build(graph, endpoints, options, history.current());
    }
    [[nodiscard]] bool makes_records() const noexcept override { return minutes_ > 0; }

  private:
    std::int32_t minutes_ = 0;
    linear_road::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_linear_road() {
    return std::make_unique<LinearRoad>();
}

}  // namespace strid::apps
