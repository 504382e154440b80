// SPDX-License-Identifier: Apache-2.0
//
// Gillespie's direct method (1977): the time to the next event is exponential with the sum of the
// propensities, the reaction is drawn by its part of the sum. Only propensities that an event has
// changed are computed again. Owns a tree of the propensities. One thread at a time.
#pragma once

#include "method.hpp"
#include "sum_tree.hpp"

namespace strid::ssa {

class DirectMethod : public Method {
  public:
    DirectMethod(const Kinetics& kinetics, const Plan& plan);

  protected:
    void prepare() override;
    bool go_on(std::uint64_t events, Recorder& recorder) override;

    SumTree propensities_;

  private:
    void update_after(std::size_t reaction);
};

}  // namespace strid::ssa
