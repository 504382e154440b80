// SPDX-License-Identifier: Apache-2.0
//
// Which consumer's lane the next item goes to: the scheduling of an emitter (paper 4, section
// 1.2.1.2). A policy is a small object owned by the producer; only the producer's thread enters.
//
// Law: `first(lanes)` names the lane to try; where `may_skip` holds, the lanes after it, in a
// circle, are tried next when it is full. `placed(lane, count)` tells where the item went.
#pragma once

#include <concepts>
#include <cstddef>

namespace strid::channel {

/// What a policy sees of the lanes: how many, and how full each was a moment ago.
template <class L>
concept LaneView = requires(const L& lanes, std::size_t lane) {
    { lanes.lane_count() } -> std::convertible_to<std::size_t>;
    { lanes.lane_size(lane) } -> std::convertible_to<std::size_t>;
};

/// In a strict circle; a full lane is waited for. Items can be put back in order by visiting the
/// lanes in the same circle.
class StrictRoundRobin {
  public:
    static constexpr bool may_skip = false;
    template <LaneView L>
    [[nodiscard]] std::size_t first(const L&) const noexcept {
        return next_;
    }
    void placed(std::size_t lane, std::size_t count) noexcept {
        next_ = lane + 1 == count ? 0 : lane + 1;
    }

  private:
    std::size_t next_ = 0;
};

/// In a circle that steps over full lanes: refused only when every lane is full.
class RoundRobin : public StrictRoundRobin {
  public:
    static constexpr bool may_skip = true;
};

/// On demand: to the consumer with the least to do, the next in the circle among equals. Reads one
/// shared line per lane and item; with lanes of capacity 1 this is the papers' on-demand policy.
class LeastFull {
  public:
    static constexpr bool may_skip = true;
    template <LaneView L>
    [[nodiscard]] std::size_t first(const L& lanes) const noexcept {
        const std::size_t count = lanes.lane_count();
        std::size_t best = circle_.first(lanes);
        std::size_t best_size = lanes.lane_size(best);
        for (std::size_t i = 1; i < count && best_size != 0; ++i) {
            const std::size_t lane = (circle_.first(lanes) + i) % count;
            const std::size_t size = lanes.lane_size(lane);
            if (size < best_size) {
                best = lane;
                best_size = size;
            }
        }
        return best;
    }
    void placed(std::size_t lane, std::size_t count) noexcept { circle_.placed(lane, count); }

  private:
    StrictRoundRobin circle_;
};

}  // namespace strid::channel
