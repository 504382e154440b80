// SPDX-License-Identifier: Apache-2.0
//
// A network of roads, as files describe it: polylines of positions. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strid::apps::traffic_monitoring {

/// A position on the globe (WGS 84), in degrees.
struct Position {
    double latitude;
    double longitude;
};

struct Road {
    std::int64_t id;
    bool one_way;  ///< Driven from the first point to the last only.
    std::vector<Position> points;
};

/// How a file of roads is written.
enum class RoadFormat : std::uint8_t {
    by_suffix,  ///< .shp: shapefile; .geojson, .json: GeoJSON; anything else: CSV
    csv,        ///< `road,one_way,latitude,longitude`, a row a point; rows of a road together
    geojson,    ///< features with a LineString or MultiLineString
    shapefile   ///< polylines, with the attributes of the .dbf beside the .shp
};

/// The roads of a file. The identifier of a road is the attribute `road`, `id` or `osm_id`, the
/// first of these that there is, or else the number of the feature, counted from 0; a polyline of
/// several parts is a road of that identifier each. The attribute `oneway` or `one_way` says
/// whether a road is: 1, true, yes, T or F (as in OpenStreetMap's shapefiles), -1 (against the
/// order of the points).
///
/// Throws InputOutputError that names the file and the line or feature: a file that is missing or
/// cut, a point that is no position, a road with less than two different points, no road at all.
[[nodiscard]] std::vector<Road> read_roads(const std::string& path, RoadFormat format);

}  // namespace strid::apps::traffic_monitoring
