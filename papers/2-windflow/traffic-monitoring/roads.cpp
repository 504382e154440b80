// SPDX-License-Identifier: Apache-2.0
#include "roads.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/stream/graph.hpp>

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

std::optional<std::int64_t> read_identifier(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    const char* const end = text.data() + text.size();
    std::int64_t id = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, id);
    if (error != std::errc{}) return std::nullopt;
    const bool decimals = stop != end && *stop == '.' &&
                          std::all_of(stop + 1, end, [](char digit) { return digit == '0'; });
    if (stop != end && !decimals) return std::nullopt;
    return id;
}

void RoadCollector::add(std::optional<std::int64_t> id, std::size_t number, Driven driven,
                        std::vector<Position> points, const std::string& where) {
    if (id) {
        any_with_id_ = true;
    } else if (first_without_id_.empty()) {
        first_without_id_ = where;
    }
    const std::int64_t name = id.value_or(static_cast<std::int64_t>(number));
    const auto faulty = std::find_if_not(points.begin(), points.end(), is_position);
    if (faulty != points.end()) {
        refuse(where, fmt::format("latitude {}, longitude {} is no position on the globe",
                                  faulty->latitude, faulty->longitude));
    }
    if (points.size() < 2 || !has_length(points)) {
        refuse(where, fmt::format("road {} has one point only", name));
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (std::abs(points[i].longitude - points[i - 1].longitude) > 180) {
            refuse(where, fmt::format("road {} crosses the 180th meridian", name));
        }
    }
    if (driven == Driven::backwards) std::reverse(points.begin(), points.end());
    roads_.push_back({name, driven != Driven::both_ways, std::move(points)});
}

std::vector<Road> RoadCollector::take() {
    if (roads_.empty()) throw InputOutputError(path_ + ": there is no road in it");
    if (any_with_id_ && !first_without_id_.empty()) {
        refuse(first_without_id_, "has no identifier, but others have");
    }
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
        // Counted from 1 without the header.
        const std::string where = fmt::format("row {}", first - rows.begin() + 1);
        if (std::any_of(first, row, [first](const PointRow& other) {
                return other.one_way != first->one_way;
            })) {
            roads.refuse(where, fmt::format("road {} has two values of one_way", first->road));
        }
        const auto driven = read_driven(std::to_string(first->one_way));
        if (!driven) roads.refuse(where, "one_way is 0, 1 or -1");
        roads.add(first->road, 0, *driven, std::move(points), where);
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
