// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <algorithm>
#include <charconv>
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
    TrafficMonitoring()
        : Application(
              {.name = "traffic-monitoring",
               .details =
                   "Input:   vehicle,latitude,longitude,speed,bearing,time  (degrees, km/h; the "
                   "time "
                   "is not\n"
                   "         looked at); see --columns\n"
                   "Roads:   a shapefile, GeoJSON, or CSV: road,one_way,latitude,longitude, a row "
                   "a "
                   "point\n"
                   "Output:  road,mean_speed,count\n"
                   "Operators: fixes, match, speed, rows, write\n"
                   "\n"
                   "Examples (in papers/2-windflow/traffic-monitoring/data):\n"
                   "  strid run traffic-monitoring --roads roads.csv --input fixes.csv\n"
                   "  strid run traffic-monitoring --roads roads.csv --input fixes.csv --emit "
                   "final\n"
                   "  strid run traffic-monitoring --roads city.shp --input fixes.csv --matcher "
                   "hidden-markov\n"
                   "  strid run traffic-monitoring --roads roads.csv --input taxi-traces.csv "
                   "--columns 2,4,5,6,7\n",
               .source_name = "fixes"}) {}

    void add_options(CLI::App& command) override {
        command.add_option("--roads", roads_path_, "The network; needed")->type_name("FILE");
        add_choice<RoadFormat>(command, "--roads-format", roads_format_,
                               {{"by-suffix", RoadFormat::by_suffix},
                                {"csv", RoadFormat::csv},
                                {"geojson", RoadFormat::geojson},
                                {"shapefile", RoadFormat::shapefile}},
                               "How --roads is written");
        add_text_option(
            command, "--columns", "C,C,C,C,C",
            [this](const std::string& text) { options_.columns = read_columns(text); },
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
    }
    void check() const override {
        if (roads_path_.empty()) {
            throw GraphError(
                "traffic-monitoring needs --roads FILE, as "
                "papers/2-windflow/traffic-monitoring/data/roads.csv");
        }
        check_positive("--tolerance", matching_.tolerance, tolerance_max_m);
        check_positive("--bearing-tolerance", matching_.bearing_tolerance, 180);
        check_positive("--position-error", options_.markov.position_error_m, tolerance_max_m);
    }
    [[nodiscard]] std::vector<FileUse> files() const override {
        if (roads_path_.empty()) return {};
        return {{.kind = FileUse::Kind::reads, .path = roads_path_, .user = "--roads"}};
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        std::shared_ptr<const RoadIndex> index;
        if (!roads_path_.empty()) {
            index = std::make_shared<const RoadIndex>(
                traffic_monitoring::read_roads(roads_path_, roads_format_), matching_);
        }
        traffic_monitoring::build(graph, endpoints, options_, std::move(index));
    }

  private:
    static constexpr double tolerance_max_m = 100'000;

    static void check_positive(const char* option, double value, double most) {
        if (value > 0 && value <= most) return;
        throw GraphError(fmt::format("{} {}: must be above 0 and at most {}", option, value, most));
    }
    static std::vector<CsvColumn> read_columns(const std::string& text) {
        std::vector<CsvColumn> columns;
        for (std::string_view rest = text; columns.empty() || !rest.empty();) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            const std::string_view word = rest.substr(0, end);
            int number = 0;
            const auto [stop, error] =
                std::from_chars(word.data(), word.data() + word.size(), number);
            if (error == std::errc{} && stop == word.data() + word.size()) {
                columns.emplace_back(number);
            } else {
                columns.emplace_back(std::string(word));
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (columns.size() == columns_count) return columns;
        throw GraphError(
            fmt::format("names {} columns; vehicle, latitude, longitude, speed and bearing are {}",
                        columns.size(), columns_count));
    }

    static constexpr std::size_t columns_count = 5;

    std::string roads_path_;
    RoadFormat roads_format_ = RoadFormat::by_suffix;
    Matching matching_;
    traffic_monitoring::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_traffic_monitoring() {
    return std::make_unique<TrafficMonitoring>();
}

}  // namespace strid::apps
