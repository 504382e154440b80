// SPDX-License-Identifier: Apache-2.0
//
// The common part of the readers of road files. One thread.
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

    /// Without an identifier `number` takes its place. `where` names the row or feature in errors:
    /// "row 7". Throws InputOutputError.
    void add(std::optional<std::int64_t> id, std::size_t number, Driven driven,
             std::vector<Position> points, const std::string& where);
    /// Throws InputOutputError for a file without a road, or where only some have identifiers:
    /// the number of one could be the identifier of another.
    [[nodiscard]] std::vector<Road> take();

    [[noreturn]] void refuse(const std::string& where, const std::string& reason) const;

  private:
    std::string path_;
    std::vector<Road> roads_;
    std::string first_without_id_;
    bool any_with_id_ = false;
};

/// The whole number that a text is, spaces around it and decimals that are zero taken off.
[[nodiscard]] std::optional<std::int64_t> read_identifier(std::string_view text);

[[nodiscard]] std::vector<Road> read_csv_roads(const std::string& path);
[[nodiscard]] std::vector<Road> read_geojson_roads(const std::string& path);
[[nodiscard]] std::vector<Road> read_shapefile_roads(const std::string& path);

}  // namespace strid::apps::traffic_monitoring
