// SPDX-License-Identifier: Apache-2.0
#include "road_index.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <utility>

#include <boost/geometry/core/cs.hpp>
#include <boost/geometry/geometries/box.hpp>
#include <boost/geometry/geometries/point_xy.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/geometry/strategies/cartesian.hpp>
#include <boost/iterator/function_output_iterator.hpp>

namespace strid::apps::traffic_monitoring {

/// A piece of a road, in the plane.
struct Segment {
    Point begin;
    Point end;
    Point direction;  // of length 1
    std::uint32_t road;
    bool one_way;
};

namespace {

namespace bg = boost::geometry;
namespace bgi = boost::geometry::index;

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr double earth_radius_m = 6'371'008.8;  // the mean radius of WGS 84
constexpr double metres_per_degree = earth_radius_m * radians_per_degree;
constexpr double mm_per_m = 1000;

double squared_distance(const Point& a, const Point& b) {
    const double x = a.x - b.x;
    const double y = a.y - b.y;
    return x * x + y * y;
}

double distance(const Point& a, const Point& b) {
    return std::sqrt(squared_distance(a, b));
}

/// The point of a segment that is nearest to `point`.
Point nearest_of(const Segment& segment, const Point& point) {
    const double x = segment.end.x - segment.begin.x;
    const double y = segment.end.y - segment.begin.y;
    const double along = (point.x - segment.begin.x) * x + (point.y - segment.begin.y) * y;
    if (along <= 0) return segment.begin;
    const double length = x * x + y * y;
    if (along >= length) return segment.end;
    const double share = along / length;
    return {segment.begin.x + share * x, segment.begin.y + share * y};
}

std::uint32_t in_mm(double squared) {
    return static_cast<std::uint32_t>(std::lround(std::sqrt(squared) * mm_per_m));
}

bool before(const Candidate& a, const Candidate& b) {
    return a.distance_mm != b.distance_mm ? a.distance_mm < b.distance_mm : a.road < b.road;
}

using PlanePoint = bg::model::d2::point_xy<double>;
using Box = bg::model::box<PlanePoint>;
using Entry = std::pair<Box, std::uint32_t>;

Box box_of(const Segment& segment) {
    const auto [x, more_x] = std::minmax(segment.begin.x, segment.end.x);
    const auto [y, more_y] = std::minmax(segment.begin.y, segment.end.y);
    return {{x, y}, {more_x, more_y}};
}

}  // namespace

/// Outside of the grid no road is near.
struct RoadIndex::Grid {
    std::vector<Segment> segments;
    Point low{};  // its corner
    double cells_per_metre = 0;
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::vector<std::uint32_t> near;   // numbers of segments, those of one cell together
    std::vector<std::size_t> near_of;  // by cell: where they begin; one more at the end

    /// `from` and `to` are the corners of the network.
    void fill(const Point& from, const Point& to, double tolerance);

    /// The segments that may be within the tolerance of a point.
    [[nodiscard]] std::span<const std::uint32_t> near_to(const Point& point) const noexcept {
        const double column = (point.x - low.x) * cells_per_metre;
        const double row = (point.y - low.y) * cells_per_metre;
        // Negated, so that what is not a number is outside.
        if (!(column >= 0 && row >= 0 && column < static_cast<double>(columns) &&
              row < static_cast<double>(rows))) {
            return {};
        }
        const std::size_t cell =
            static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column);
        return {near.data() + near_of[cell], near_of[cell + 1] - near_of[cell]};
    }
};

void RoadIndex::Grid::fill(const Point& from, const Point& to, double tolerance) {
    // Small cells have few segments; their number bounds the memory.
    constexpr double cells_a_side_max = 511;
    constexpr double margin_m = 0.001;  // more than rounding
    std::vector<Entry> entries;
    entries.reserve(segments.size());
    for (std::uint32_t i = 0; i < segments.size(); ++i) {
        entries.emplace_back(box_of(segments[i]), i);
    }
    const bgi::rtree<Entry, bgi::linear<8>> tree(entries);  // packed: bulk loading makes the best
    const double reach = tolerance + margin_m;
    low = {from.x - reach, from.y - reach};
    const double width = to.x + reach - low.x;
    const double height = to.y + reach - low.y;
    const double side =
        std::max({tolerance / 2, width / cells_a_side_max, height / cells_a_side_max});
    cells_per_metre = 1 / side;
    columns = static_cast<std::size_t>(width / side) + 1;
    rows = static_cast<std::size_t>(height / side) + 1;
    const double half_diagonal = side * std::numbers::sqrt2 / 2;
    near_of.push_back(0);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            const Point middle{low.x + (static_cast<double>(column) + 0.5) * side,
                               low.y + (static_cast<double>(row) + 0.5) * side};
            const double half = side / 2 + reach;
            const Box around{{middle.x - half, middle.y - half},
                             {middle.x + half, middle.y + half}};
            // The box of a long segment covers many cells that it does not come near.
            const auto keep = [&](const Entry& entry) {
                const Segment& segment = segments[entry.second];
                if (distance(middle, nearest_of(segment, middle)) <= reach + half_diagonal) {
                    near.push_back(entry.second);
                }
            };
            tree.query(bgi::intersects(around), boost::make_function_output_iterator(keep));
            near_of.push_back(near.size());
        }
    }
}

RoadIndex::RoadIndex(const std::vector<Road>& roads, const Matching& matching)
    : matching_(matching),
      cosine_min_(std::cos(std::min(matching.bearing_tolerance, 180.0) * radians_per_degree)) {
    Position low{90, 180};
    Position high{-90, -180};
    for (const Road& road : roads) {
        ids_.push_back(road.id);
        for (const Position& point : road.points) {
            low = {std::min(low.latitude, point.latitude),
                   std::min(low.longitude, point.longitude)};
            high = {std::max(high.latitude, point.latitude),
                    std::max(high.longitude, point.longitude)};
        }
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    middle_ = {(low.latitude + high.latitude) / 2, (low.longitude + high.longitude) / 2};
    metres_per_degree_east_ = metres_per_degree * std::cos(middle_.latitude * radians_per_degree);
    low_ = project(low);
    high_ = project(high);

    auto grid = std::make_unique<Grid>();
    for (const Road& road : roads) {
        const std::uint32_t number = number_of(road.id);
        for (std::size_t i = 1; i < road.points.size(); ++i) {
            const Point begin = project(road.points[i - 1]);
            const Point end = project(road.points[i]);
            const double length = std::sqrt(squared_distance(begin, end));
            if (length == 0) continue;
            grid->segments.push_back({begin,
                                      end,
                                      {(end.x - begin.x) / length, (end.y - begin.y) / length},
                                      number,
                                      road.one_way});
        }
    }
    grid->fill(low_, high_, matching.tolerance);
    grid_ = std::move(grid);
    find_junctions(roads);
}

RoadIndex::~RoadIndex() = default;

void RoadIndex::find_junctions(const std::vector<Road>& roads) {
    // By place in whole metres, then by road.
    std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::uint32_t, Point>> roads_at;
    for (const Road& road : roads) {
        for (const Position& position : road.points) {
            const Point point = project(position);
            roads_at[{std::llround(point.x), std::llround(point.y)}].emplace(number_of(road.id),
                                                                             point);
        }
    }
    std::vector<std::vector<Junction>> by_road(ids_.size());
    for (const auto& [place, here] : roads_at) {
        for (const auto& [road, point] : here) {
            for (const auto& [other, unused] : here) {
                if (road != other) by_road[road].push_back({other, point});
            }
        }
    }
    junctions_of_.push_back(0);
    for (std::vector<Junction>& of_road : by_road) {
        std::stable_sort(of_road.begin(), of_road.end(),
                         [](const Junction& a, const Junction& b) { return a.other < b.other; });
        junctions_.insert(junctions_.end(), of_road.begin(), of_road.end());
        junctions_of_.push_back(static_cast<std::uint32_t>(junctions_.size()));
    }
}

std::uint32_t RoadIndex::number_of(std::int64_t id) const noexcept {
    return static_cast<std::uint32_t>(std::lower_bound(ids_.begin(), ids_.end(), id) -
                                      ids_.begin());
}

double RoadIndex::route(std::uint32_t road, const Point& from, std::uint32_t other,
                        const Point& to) const noexcept {
    if (road == other) return distance(from, to);
    double shortest = std::numeric_limits<double>::infinity();
    const auto end = junctions_.begin() + junctions_of_[road + 1];
    for (auto junction = std::lower_bound(
             junctions_.begin() + junctions_of_[road], end, other,
             [](const Junction& one, std::uint32_t number) { return one.other < number; });
         junction != end && junction->other == other; ++junction) {
        shortest =
            std::min(shortest, distance(from, junction->point) + distance(junction->point, to));
    }
    return shortest;
}

Point RoadIndex::project(const Position& position) const noexcept {
    return {(position.longitude - middle_.longitude) * metres_per_degree_east_,
            (position.latitude - middle_.latitude) * metres_per_degree};
}

Heading RoadIndex::heading(const Position& position, double speed, double bearing) const noexcept {
    const Point point = project(position);
    if (speed == 0) return {point, {0, 0}};
    const double angle = bearing * radians_per_degree;
    return {point, {std::sin(angle), std::cos(angle)}};
}

// Calls take(candidate) for every segment that fits.
template <class Take>
void RoadIndex::visit(const Heading& heading, const Take& take) const {
    const double tolerance = matching_.tolerance;
    const Point& point = heading.point;
    const bool has_direction = heading.direction.x != 0 || heading.direction.y != 0;
    for (const std::uint32_t number : grid_->near_to(point)) {
        const Segment& segment = grid_->segments[number];
        if (has_direction) {
            const double cosine = segment.direction.x * heading.direction.x +
                                  segment.direction.y * heading.direction.y;
            if ((segment.one_way ? cosine : std::abs(cosine)) < cosine_min_) continue;
        }
        const Point place = nearest_of(segment, point);
        const double squared = squared_distance(point, place);
        if (squared > tolerance * tolerance) continue;
        take(Candidate{segment.road, in_mm(squared), place});
    }
}

std::uint32_t RoadIndex::nearest(const Heading& heading) const {
    Candidate best{none, std::numeric_limits<std::uint32_t>::max(), {}};
    visit(heading, [&best](const Candidate& candidate) {
        if (before(candidate, best)) best = candidate;
    });
    return best.road;
}

std::size_t RoadIndex::near(const Heading& heading, Candidates& found) const {
    std::size_t count = 0;
    visit(heading, [&](const Candidate& candidate) {
        auto end = found.begin() + static_cast<std::ptrdiff_t>(count);
        const auto same = std::find_if(found.begin(), end, [&](const Candidate& other) {
            return other.road == candidate.road;
        });
        if (same != end) {
            if (!before(candidate, *same)) return;
            std::move(same + 1, end, same);
            --end;
            --count;
        } else if (count == candidates_max) {
            if (!before(candidate, found.back())) return;
            --end;
            --count;
        }
        const auto place = std::upper_bound(found.begin(), end, candidate, before);
        std::move_backward(place, end, end + 1);
        *place = candidate;
        ++count;
    });
    return count;
}

bool RoadIndex::covers(const Point& point) const noexcept {
    const double tolerance = matching_.tolerance;
    return point.x >= low_.x - tolerance && point.x <= high_.x + tolerance &&
           point.y >= low_.y - tolerance && point.y <= high_.y + tolerance;
}

std::size_t RoadIndex::segments() const noexcept {
    return grid_->segments.size();
}

}  // namespace strid::apps::traffic_monitoring
