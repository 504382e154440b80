// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "traffic_monitoring.hpp"

namespace strid::apps {

namespace {

using traffic_monitoring::Matcher;
using traffic_monitoring::Matching;
using traffic_monitoring::RoadFormat;
using traffic_monitoring::RoadIndex;

class TrafficMonitoring final : public Application {
  public:
    TrafficMonitoring() : Application("traffic-monitoring") {}

    void add_own_options(CLI::App& command) override {
        add_choice<RoadFormat>(command, "--roads-format", roads_format_,
                               {{"by-suffix", RoadFormat::by_suffix},
                                {"csv", RoadFormat::csv},
                                {"geojson", RoadFormat::geojson},
                                {"shapefile", RoadFormat::shapefile}},
                               "How --roads is written");
        add_text_option(
            command, "--columns", "C,C,C,C,C",
            [this](const std::string& text) {
                options_.columns =
                    read_columns(text, 5, "vehicle, latitude, longitude, speed and bearing");
            },
            "Which columns hold vehicle, latitude, longitude, speed and bearing: numbers from 1,\n"
            "or names of a header (default: 1,2,3,4,5)");
        add_decimal_option(command, "--tolerance", matching_.tolerance,
                           "Metres from a vehicle to its road at most");
        add_decimal_option(command, "--bearing-tolerance", matching_.bearing_tolerance,
                           "Degrees between the bearings of a vehicle and its road at most");
        add_choice<Matcher>(
            command, "--matcher", options_.matcher,
            {{"nearest", Matcher::nearest}, {"hidden-markov", Matcher::hidden_markov}},
            "The nearest road of each fix, or the most probable sequence of roads of a vehicle");
        add_decimal_option(command, "--position-error", options_.markov.position_error_m,
                           "Standard deviation of a fix in metres, for hidden-markov");
        add_choice<Emit>(command, "--emit", options_.emit,
                         {{"updates", Emit::every_update}, {"final", Emit::at_end}},
                         "A row per match with the mean so far, or one per road at the end");
        command.add_flag(
            "--ordered", options_.ordered,
            "The rows and means of a road in the order of the input, however many replicas match");
        add_form_option(command);
    }
    void check_own() const override {
        check_positive("--tolerance", matching_.tolerance, tolerance_max_m);
        check_positive("--bearing-tolerance", matching_.bearing_tolerance, 180);
        check_positive("--position-error", options_.markov.position_error_m, tolerance_max_m);
        if (form() == GraphForm::own) return;
        if (options_.matcher != Matcher::nearest || options_.emit != Emit::every_update) {
            throw GraphError(
                "--form paper goes with --matcher nearest and --emit updates: the "
                "paper has no other graph");
        }
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        std::shared_ptr<const RoadIndex> index;
        if (!side_file().empty()) {
            index = std::make_shared<const RoadIndex>(
                traffic_monitoring::read_roads(side_file(), roads_format_), matching_);
        }
        if (form() == GraphForm::paper) {
            traffic_monitoring::build_papers_form(graph, endpoints, options_, std::move(index));
        } else {
            traffic_monitoring::build(graph, endpoints, options_, std::move(index));
        }
    }

  private:
    static constexpr double tolerance_max_m = 100'000;

    static void check_positive(const char* option, double value, double most) {
        if (value > 0 && value <= most) return;
        throw GraphError(fmt::format("{} {}: must be above 0 and at most {}", option, value, most));
    }

    RoadFormat roads_format_ = RoadFormat::by_suffix;
    Matching matching_;
    traffic_monitoring::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_traffic_monitoring() {
    return std::make_unique<TrafficMonitoring>();
}

}  // namespace strid::apps
