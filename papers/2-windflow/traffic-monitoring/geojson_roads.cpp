// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <simdjson.h>

#include <strid/base/error.hpp>

#include "road_files.hpp"

namespace strid::apps::traffic_monitoring {

namespace {

namespace dom = simdjson::dom;

/// The text of a property as the readers of attributes take it; empty where there is none.
std::string property_text(const dom::element& properties, const char* name) {
    const auto found = properties[name];
    if (found.error() != simdjson::SUCCESS) return {};
    const dom::element value = found.value_unsafe();
    if (value.is_null()) return {};
    if (value.is_string()) return std::string(std::string_view(value));
    return simdjson::minify(value);
}

std::optional<std::int64_t> id_of(const dom::element& properties) {
    for (const char* const name : {"road", "id", "osm_id"}) {
        const auto id = read_identifier(property_text(properties, name));
        if (id) return id;
    }
    return std::nullopt;
}

/// Throws simdjson_error where the coordinates have another shape.
std::vector<Position> points_of(const dom::element& line) {
    std::vector<Position> points;
    for (const dom::element point : dom::array(line)) {
        const dom::array numbers(point);
        points.push_back({double(numbers.at(1)), double(numbers.at(0))});
    }
    return points;
}

void add_feature(RoadCollector& roads, const dom::element& feature, std::size_t number) {
    const std::string where = fmt::format("feature {}", number);
    const dom::element geometry = feature["geometry"];
    if (geometry.is_null()) return;
    const std::string_view type = geometry["type"];
    if (type != "LineString" && type != "MultiLineString") return;  // a crossing, a building
    const auto found = feature["properties"];
    const dom::element properties =
        found.error() == simdjson::SUCCESS && found.value_unsafe().is_object()
            ? found.value_unsafe()
            : feature;
    std::string oneway = property_text(properties, "oneway");
    if (oneway.empty()) oneway = property_text(properties, "one_way");
    const auto driven = read_driven(oneway);
    if (!driven) roads.refuse(where, fmt::format("oneway '{}' is not known", oneway));
    const auto id = id_of(properties);
    const dom::element coordinates = geometry["coordinates"];
    if (type == "LineString") return roads.add(id, number, *driven, points_of(coordinates), where);
    for (const dom::element line : dom::array(coordinates)) {
        roads.add(id, number, *driven, points_of(line), where);
    }
}

}  // namespace

std::vector<Road> read_geojson_roads(const std::string& path) {
    RoadCollector roads(path);
    dom::parser parser;
    const auto read = parser.load(path);
    if (read.error() != simdjson::SUCCESS) {
        throw InputOutputError(fmt::format("{}: {}", path, simdjson::error_message(read.error())));
    }
    std::size_t number = 0;
    try {
        for (const dom::element feature : dom::array(read.value_unsafe()["features"])) {
            add_feature(roads, feature, number);
            ++number;
        }
    } catch (const simdjson::simdjson_error& error) {
        roads.refuse(fmt::format("feature {}", number),
                     fmt::format("is no GeoJSON: {}", error.what()));
    }
    return roads.take();
}

}  // namespace strid::apps::traffic_monitoring
