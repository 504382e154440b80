// SPDX-License-Identifier: Apache-2.0
//
// What the readers of road files share. One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roads.hpp"

namespace strid::apps::traffic_monitoring {

/// Which way the attribute of a road lets it be driven.
enum class Driven : std::uint8_t { both_ways, forwards, backwards };

/// Empty where the text is no such attribute.
[[nodiscard]] std::optional<Driven> read_driven(std::string_view text);

/// Takes roads in and refuses what is none.
class RoadCollector {
  public:
    explicit RoadCollector(std::string path) : path_(std::move(path)) {}

    /// `where` names the line or feature in errors: "line 7". Throws InputOutputError.
    void add(std::int64_t id, Driven driven, std::vector<Position> points,
             const std::string& where);
    /// Throws InputOutputError for a file without a road.
    [[nodiscard]] std::vector<Road> take();

    [[noreturn]] void refuse(const std::string& where, const std::string& reason) const;

  private:
    std::string path_;
    std::vector<Road> roads_;
};

[[nodiscard]] std::vector<Road> read_csv_roads(const std::string& path);
[[nodiscard]] std::vector<Road> read_geojson_roads(const std::string& path);
[[nodiscard]] std::vector<Road> read_shapefile_roads(const std::string& path);

}  // namespace strid::apps::traffic_monitoring
