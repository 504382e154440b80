// SPDX-License-Identifier: Apache-2.0
//
// The next reaction method (Gibson and Bruck 2000): each reaction has the time of its next event,
// the earliest happens, and the times of the reactions that it changes are scaled, not drawn anew:
// one random number an event. Owns the times and the propensities. One thread at a time.
#pragma once

#include <vector>

#include "event_heap.hpp"
#include "method.hpp"

namespace strid::ssa {

class NextReactionMethod final : public Method {
  public:
    NextReactionMethod(const Kinetics& kinetics, const Plan& plan);

  protected:
    void prepare() override;
    bool go_on(std::uint64_t events, Recorder& recorder) override;

  private:
    [[nodiscard]] double draw_time(double propensity);
    void update(std::size_t reaction);

    EventHeap times_;
    std::vector<double> propensities_;
};

}  // namespace strid::ssa
