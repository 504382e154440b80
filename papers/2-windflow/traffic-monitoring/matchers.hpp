// SPDX-License-Identifier: Apache-2.0
//
// Which road a vehicle is on: operators from fixes to matches. A matcher is a value; its replicas
// share one immutable index. A position on no road is counted, not emitted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <strid/operator/contract.hpp>

#include "fix.hpp"
#include "road_index.hpp"

namespace strid::apps::traffic_monitoring {

/// The counters of the matchers, by their names in the summary and in --metrics.
struct MatchCounters {
    Counter off_road;   ///< in the box of the network, but no road fits
    Counter outside;    ///< not even in that box
    Counter restarted;  ///< chains of the hidden-Markov matcher that a miss ended
    Counter leaps;      ///< fixes that no road led to from the last one

    void open(const Context& context) {
        off_road = context.counter("off every road");
        outside = context.counter("outside the map");
    }
    void count_miss(const RoadIndex& index, const Point& point) noexcept {
        (index.covers(point) ? off_road : outside).add();
    }
};

/// The nearest road that fits the bearing (paper 2, section 5.1, TM). No state.
class NearestRoad {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened>, .stateless = true};

    explicit NearestRoad(std::shared_ptr<const RoadIndex> index) : index_(std::move(index)) {}

    void on(const Opened& opened) { counters_.open(opened.context); }

    template <class Emit>
    void operator()(const Fix& fix, Emit& emit) {
        const Heading heading = index_->heading(fix.position(), fix.speed, fix.bearing);
        const std::uint32_t road = index_->nearest(heading);
        if (road == RoadIndex::none) return counters_.count_miss(*index_, heading.point);
        emit(Match{index_->id_of(road), fix.speed});
    }

  private:
    std::shared_ptr<const RoadIndex> index_;
    MatchCounters counters_;
};

/// How likely a vehicle is to be seen from a road, and to go from one road to another.
struct MarkovOptions {
    double position_error_m = 10;  ///< Standard deviation of a fix, across the road.
    /// Mean of the difference between the way by road and the way between two fixes.
    double detour_m = 20;
    /// Logarithm of the probability that a vehicle goes on elsewhere, which no road leads to.
    double leap = -12;
};

/// The roads of one vehicle as a hidden Markov chain (Newson and Krumm: "Hidden Markov map matching
/// through noise and sparseness", 2009): the states are roads; a fix is seen from a road with a
/// normal error; a road follows another with an exponential probability of the difference between
/// the way by road (RoadIndex::route, over one junction at most) and the way from fix to fix. Each
/// fix goes to the end of the most probable sequence of roads up to it: the forward pass of
/// Viterbi's algorithm, without a delay. State: 16 roads.
///
/// A fix that no road fits begins a new chain.
class HiddenMarkovRoad {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened>};

    HiddenMarkovRoad(std::shared_ptr<const RoadIndex> index, const MarkovOptions& options)
        : index_(std::move(index)), options_(options) {}

    void on(const Opened& opened) {
        counters_.open(opened.context);
        counters_.restarted = opened.context.counter("chains ended");
        counters_.leaps = opened.context.counter("leaps");
    }

    template <class Emit>
    void operator()(const Fix& fix, Emit& emit) {
        const Heading heading = index_->heading(fix.position(), fix.speed, fix.bearing);
        const std::uint32_t road = advance(heading);
        if (road == RoadIndex::none) return counters_.count_miss(*index_, heading.point);
        emit(Match{index_->id_of(road), fix.speed});
    }

    /// The road of the next fix, or `RoadIndex::none`. O(16 x 16) searches at most.
    std::uint32_t advance(const Heading& heading);
    auto state() { return std::tie(states_, count_, last_); }

  private:
    struct State {
        std::uint32_t road;
        double score;  // logarithm, relative to the best
        Point place;   // of the last fix, on the road
    };

    [[nodiscard]] double transition(const State& from, const Candidate& to,
                                    double moved_m) const noexcept;

    std::shared_ptr<const RoadIndex> index_;
    MarkovOptions options_;
    std::array<State, RoadIndex::candidates_max> states_{};
    std::size_t count_ = 0;
    Point last_{};  // the last fix
    MatchCounters counters_;
};

}  // namespace strid::apps::traffic_monitoring
