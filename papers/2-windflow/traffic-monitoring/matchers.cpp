// SPDX-License-Identifier: Apache-2.0
#include "matchers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strid::apps::traffic_monitoring {

double HiddenMarkovRoad::transition(const State& from, const Candidate& to,
                                    double moved_m) const noexcept {
    const double route = index_->route(from.road, from.place, to.road, to.place);
    return std::max(options_.leap, -std::abs(route - moved_m) / options_.detour_m);
}

std::uint32_t HiddenMarkovRoad::advance(const Heading& heading) {
    RoadIndex::Candidates found;
    const std::size_t found_count = index_->near(heading, found);
    if (found_count == 0) {
        if (count_ > 0) counters_.restarted.add();
        count_ = 0;
        return RoadIndex::none;
    }
    const double moved_m = std::hypot(heading.point.x - last_.x, heading.point.y - last_.y);
    std::array<State, RoadIndex::candidates_max> next;
    std::size_t best = 0;
    bool leaps = count_ > 0;
    for (std::size_t i = 0; i < found_count; ++i) {
        constexpr double mm_per_m = 1000;
        const double deviation = found[i].distance_mm / mm_per_m / options_.position_error_m;
        double way = count_ == 0 ? 0 : -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < count_; ++j) {
            const double step = transition(states_[j], found[i], moved_m);
            if (step > options_.leap) leaps = false;
            way = std::max(way, states_[j].score + step);
        }
        next[i] = {found[i].road, way - deviation * deviation / 2, found[i].place};
        const State& leader = next[best];
        if (next[i].score > leader.score ||
            (next[i].score == leader.score && next[i].road < leader.road)) {
            best = i;
        }
    }
    if (leaps) counters_.leaps.add();
    const double most = next[best].score;
    for (std::size_t i = 0; i < found_count; ++i) {
        states_[i] = next[i];
        states_[i].score -= most;
    }
    count_ = found_count;
    last_ = heading.point;
    return states_[best].road;
}

}  // namespace strid::apps::traffic_monitoring
