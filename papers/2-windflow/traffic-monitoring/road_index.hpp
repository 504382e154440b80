// SPDX-License-Identifier: Apache-2.0
//
// Finds the roads near a position: a grid that keeps, for each of its cells, what an R-tree over
// the segments of the network answers (Boost.Geometry), in a plane of metres that touches the globe
// in the middle of the network. In the plane distances need no trigonometry; over a city of 100 km,
// up to 50 degrees of latitude, they are wrong by less than a hundredth.
//
// Immutable; any thread may ask, without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "roads.hpp"

namespace strid::apps::traffic_monitoring {

/// Metres east and north of the middle of the network.
struct Point {
    double x;
    double y;
};

/// The conditions for a road to be that of a vehicle.
struct Matching {
    /// Metres from the position to the road at most.
    double tolerance = 50;
    /// Degrees between the bearing of the vehicle and that of the road at most; a two-way road has
    /// both. A vehicle that stands has no bearing.
    double bearing_tolerance = 45;
};

/// Where a vehicle is and which way it drives.
struct Heading {
    Point point;
    Point direction;  ///< Of length 1; 0, 0: not known.
};

/// A road near a position.
struct Candidate {
    /// Number of the road, in the order of identifiers; kept by the index.
    std::uint32_t road;
    /// Whole millimetres, so that roads that share a point are equally far from it.
    std::uint32_t distance_mm;
    Point place;  ///< The point of the road that is nearest.
};

class RoadIndex {
  public:
    /// So many roads are looked at by a search for several; the nearest of them.
    static constexpr std::size_t candidates_max = 16;

    /// Time O(s log s) for s segments, and a search in the tree for each of at most 2^18 cells.
    /// Roads of one identifier are one road.
    RoadIndex(const std::vector<Road>& roads, const Matching& matching);
    ~RoadIndex();
    RoadIndex(const RoadIndex&) = delete;
    RoadIndex& operator=(const RoadIndex&) = delete;

    /// `bearing` in degrees, clockwise from north; not looked at where `speed` is 0.
    [[nodiscard]] Heading heading(const Position& position, double speed,
                                  double bearing) const noexcept;

    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    /// The nearest road that fits, of equally near ones that with the least identifier; `none`
    /// where none does. O(segments near the cell).
    [[nodiscard]] std::uint32_t nearest(const Heading& heading) const;

    using Candidates = std::array<Candidate, candidates_max>;
    /// The nearest roads that fit, nearest first, and how many those are.
    std::size_t near(const Heading& heading, Candidates& found) const;

    /// Whether the position is in the box around the network, the tolerance added.
    [[nodiscard]] bool covers(const Point& point) const noexcept;
    /// Metres from a place on one road to a place on another, in straight lines: to the point that
    /// the roads have in common, and on; by the shortest way where they have several. On one road
    /// straight ahead. Infinite where the roads do not touch. O(log t + p) for t roads that touch
    /// the first one and p such points.
    [[nodiscard]] double route(std::uint32_t road, const Point& from, std::uint32_t other,
                               const Point& to) const noexcept;

    [[nodiscard]] std::int64_t id_of(std::uint32_t road) const noexcept { return ids_[road]; }
    [[nodiscard]] std::size_t roads() const noexcept { return ids_.size(); }
    [[nodiscard]] std::size_t segments() const noexcept;
    [[nodiscard]] const Matching& matching() const noexcept { return matching_; }

  private:
    struct Grid;

    [[nodiscard]] Point project(const Position& position) const noexcept;
    [[nodiscard]] std::uint32_t number_of(std::int64_t id) const noexcept;
    /// A point that a road has in common with another: the same whole metre of the plane.
    struct Junction {
        std::uint32_t other;
        Point point;
    };

    void find_junctions(const std::vector<Road>& roads);
    template <class Take>
    void visit(const Heading& heading, const Take& take) const;

    Matching matching_;
    Position middle_{};
    double metres_per_degree_east_ = 0;
    double cosine_min_ = 0;  // of the angle between vehicle and road
    Point low_{};
    Point high_{};
    std::vector<std::int64_t> ids_;            // by number of the road
    std::vector<Junction> junctions_;          // those of a road together, by the other road
    std::vector<std::uint32_t> junctions_of_;  // by road: where they begin; one more at the end
    std::unique_ptr<const Grid> grid_;
};

}  // namespace strid::apps::traffic_monitoring
