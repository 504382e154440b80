// SPDX-License-Identifier: Apache-2.0
//
// Files of roads. The first byte chooses: GeoJSON, or a shapefile, whose three files are parts of
// the input (.shp up to the first length, then .shx, then .dbf). Invariant: a file is refused with
// a message, or its roads have two points at least, all on the globe.
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <strid/base/error.hpp>

#include "../../traffic-monitoring/road_files.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::apps::traffic_monitoring {
namespace {

void check_roads(const std::vector<Road>& roads) {
    fuzz::require(!roads.empty());
    for (const Road& road : roads) {
        fuzz::require(road.points.size() >= 2);
        for (const Position& point : road.points) {
            fuzz::require(std::abs(point.latitude) <= 90 && std::abs(point.longitude) <= 180);
        }
    }
}

std::size_t length_at(std::string_view text, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at])) << 8 |
           static_cast<unsigned char>(text[at + 1]);
}

void check_shapefile(std::string_view text) {
    static const test::Folder folder;
    constexpr std::size_t lengths_bytes = 4;
    if (text.size() < lengths_bytes) return;
    const std::size_t shapes = length_at(text, 0);
    const std::size_t index = length_at(text, 2);
    text.remove_prefix(lengths_bytes);
    if (shapes > text.size() || index > text.size() - shapes) return;
    folder.write("roads.shp", text.substr(0, shapes));
    folder.write("roads.shx", text.substr(shapes, index));
    folder.write("roads.dbf", text.substr(shapes + index));
    check_roads(read_shapefile_roads(folder.file("roads.shp")));
}

void check(std::uint8_t choice, std::string_view text) {
    if (choice % 2 == 1) return check_shapefile(text);
    check_roads(read_geojson_roads(fuzz::MemoryFile(text).path()));
}

}  // namespace
}  // namespace strid::apps::traffic_monitoring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        strid::apps::traffic_monitoring::check(data[0], strid::fuzz::text_of(data + 1, size - 1));
    } catch (const strid::InputOutputError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
