// SPDX-License-Identifier: Apache-2.0
//
// Traffic monitoring by hand: one thread, the index of roads of the application, one table of
// speeds by number of the road, no engine. The record is 40 bytes in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/hand/replay.hpp"
#include "papers/2-windflow/traffic-monitoring/road_index.hpp"

namespace strid::bench::hand {

namespace traffic = strid::apps::traffic_monitoring;

struct VehicleFix {
    std::uint64_t vehicle;
    traffic::Position position;
    double speed;
    double bearing;
};

/// Reads `vehicle,latitude,longitude,speed,bearing,...` lines.
inline std::vector<VehicleFix> load_fixes(const std::string& path) {
    const std::string text = read_file(path);
    std::vector<VehicleFix> fixes;
    for (std::string_view line : split_lines(text)) {
        VehicleFix fix{};
        fix.vehicle = parse_number<std::uint64_t>(next_field(line));
        for (double* const field :
             {&fix.position.latitude, &fix.position.longitude, &fix.speed, &fix.bearing}) {
            *field = parse_number<double>(next_field(line));
        }
        fixes.push_back(fix);
    }
    return fixes;
}

/// Reads `road,one_way,latitude,longitude` lines behind a header, a line a point. A road that is
/// driven from its last point to its first has another form in the network: it is refused.
inline std::vector<traffic::Road> load_roads(const std::string& path) {
    const std::string text = read_file(path);
    std::vector<traffic::Road> roads;
    bool header = true;
    for (std::string_view line : split_lines(text)) {
        if (header) {
            header = false;
            continue;
        }
        const auto id = parse_number<std::int64_t>(next_field(line));
        const auto driven = parse_number<int>(next_field(line));
        if (driven < 0) throw std::runtime_error(path + ": a road is driven backwards");
        const auto latitude = parse_number<double>(next_field(line));
        const auto longitude = parse_number<double>(next_field(line));
        if (roads.empty() || roads.back().id != id) roads.push_back({id, driven == 1, {}});
        roads.back().points.push_back({latitude, longitude});
    }
    return roads;
}

struct MeanSpeed {
    std::int64_t road;
    double mean;
    std::uint64_t count;
};

class TrafficMonitor {
  public:
    explicit TrafficMonitor(const std::string& roads_path, const traffic::Matching& matching = {})
        : index_(load_roads(roads_path), matching), speeds_(index_.roads()) {}

    /// Takes a fix in; update(MeanSpeed) is called if it is on a road.
    template <class Report>
    void add(const VehicleFix& fix, Report&& update) {
        const std::uint32_t road =
            index_.nearest(index_.heading(fix.position, fix.speed, fix.bearing));
        if (road == traffic::RoadIndex::none) return;
        Speeds& speeds = speeds_[road];
        speeds.sum += fix.speed;
        ++speeds.count;
        update(MeanSpeed{index_.id_of(road), speeds.sum / static_cast<double>(speeds.count),
                         speeds.count});
    }

  private:
    struct Speeds {
        double sum = 0;
        std::uint64_t count = 0;
    };

    traffic::RoadIndex index_;
    std::vector<Speeds> speeds_;  // by number of the road
};

struct TrafficMonitoringResult : ReplayResult {
    std::uint64_t updates = 0;
    std::uint64_t checksum = 0;  // counts of the updates summed
};

inline TrafficMonitoringResult run_traffic_monitoring(const std::vector<VehicleFix>& input,
                                                      const std::string& roads_path,
                                                      std::chrono::nanoseconds duration) {
    TrafficMonitor monitor(roads_path);
    TrafficMonitoringResult result;
    static_cast<ReplayResult&>(result) = replay(input, duration, [&](const VehicleFix& fix) {
        monitor.add(fix, [&](const MeanSpeed& update) {
            keep_alive(update);
            ++result.updates;
            result.checksum += update.count;
        });
    });
    return result;
}

}  // namespace strid::bench::hand
