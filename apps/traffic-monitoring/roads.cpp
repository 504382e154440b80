// SPDX-License-Identifier: Apache-2.0
#include "roads.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/graph/graph.hpp>

#include "road_files.hpp"

namespace strid::apps::traffic_monitoring {

namespace {

/// A row of CSV: one point of a road.
struct PointRow {
    std::int64_t road;
    int one_way;
    double latitude;
    double longitude;
};

bool is_position(const Position& position) {
    return std::abs(position.latitude) <= 90 && std::abs(position.longitude) <= 180;
}

bool has_length(const std::vector<Position>& points) {
    return std::any_of(points.begin(), points.end(), [&points](const Position& point) {
        return point.latitude != points.front().latitude ||
               point.longitude != points.front().longitude;
    });
}

}  // namespace

std::optional<Driven> read_driven(std::string_view text) {
    using enum Driven;
    for (const std::string_view word : {"", "0", "no", "false", "False", "B", "reversible"}) {
        if (text == word) return both_ways;
    }
    for (const std::string_view word : {"1", "yes", "true", "True", "F"}) {
        if (text == word) return forwards;
    }
    for (const std::string_view word : {"-1", "reverse", "T"}) {
        if (text == word) return backwards;
    }
    return std::nullopt;
}

void RoadCollector::refuse(const std::string& where, const std::string& reason) const {
    throw InputOutputError(fmt::format("{}: {}: {}", path_, where, reason));
}

void RoadCollector::add(std::int64_t id, Driven driven, std::vector<Position> points,
                        const std::string& where) {
    const auto faulty = std::find_if_not(points.begin(), points.end(), is_position);
    if (faulty != points.end()) {
        refuse(where, fmt::format("latitude {}, longitude {} is no position on the globe",
                                  faulty->latitude, faulty->longitude));
    }
    if (points.size() < 2 || !has_length(points)) {
        refuse(where, fmt::format("road {} has one point only", id));
    }
    if (driven == Driven::backwards) std::reverse(points.begin(), points.end());
    roads_.push_back({id, driven != Driven::both_ways, std::move(points)});
}

std::vector<Road> RoadCollector::take() {
    if (roads_.empty()) throw InputOutputError(path_ + ": there is no road in it");
    return std::move(roads_);
}

std::vector<Road> read_csv_roads(const std::string& path) {
    std::vector<PointRow> rows;
    Graph graph{"roads"};
    graph
        .source(csv_file<PointRow>(path, {.columns = {"road", "one_way", "latitude", "longitude"}}))
        .sink([&rows](const PointRow& row) { rows.push_back(row); }, {.parallelism = 1});
    try {
        run(graph, {.workers = 1});
    } catch (const OperatorError& error) {
        std::rethrow_exception(error.cause());
    }
    RoadCollector roads(path);
    for (auto row = rows.begin(); row != rows.end();) {
        const auto first = row;
        std::vector<Position> points;
        for (; row != rows.end() && row->road == first->road; ++row) {
            points.push_back({row->latitude, row->longitude});
        }
        // Behind the header, counted from 1.
        const std::string where = fmt::format("line {}", first - rows.begin() + 2);
        const auto driven = read_driven(std::to_string(first->one_way));
        if (!driven) roads.refuse(where, "one_way is 0, 1 or -1");
        roads.add(first->road, *driven, std::move(points), where);
    }
    return roads.take();
}

std::vector<Road> read_roads(const std::string& path, RoadFormat format) {
    if (format == RoadFormat::by_suffix) {
        format = path.ends_with(".shp")                                  ? RoadFormat::shapefile
                 : path.ends_with(".geojson") || path.ends_with(".json") ? RoadFormat::geojson
                                                                         : RoadFormat::csv;
    }
    switch (format) {
        case RoadFormat::shapefile:
            return read_shapefile_roads(path);
        case RoadFormat::geojson:
            return read_geojson_roads(path);
        default:
            return read_csv_roads(path);
    }
}

}  // namespace strid::apps::traffic_monitoring
