// SPDX-License-Identifier: Apache-2.0
//
// The operator `sides` of the compact graph: a call for the shard of each of its numbers, with the
// mean duration of all calls so far. One replica, as that depends on the order of all calls; one
// thread at a time.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/operator/contract.hpp>

#include "call.hpp"
#include "scores.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

/// Makes the two sides of a call, the callee's first.
class Sides : public OperatorTypes<TimedCall, Side> {
  public:
    static constexpr OperatorTraits traits{.kind = "sides",
                                           .emits = Emits::any_number,
                                           .hears = events<>,
                                           .only_reads = true,
                                           .one_replica = true};

    explicit Sides(SharedPlan plan) : plan_(std::move(plan)) {}

    void process(const TimedCall& call, auto& emit) {
        const double mean = mean_.add(call.duration, call.start, call.now, plan_->long_growth);
        emit(Side{call.called, call.calling, mean, call.start, call.duration, call.now, false});
        emit(Side{call.calling, call.called, mean, call.start, call.duration, call.now, true});
    }
    auto state() { return std::tie(mean_); }

  private:
    SharedPlan plan_;
    MeanDuration mean_;
};

}  // namespace strid::apps::voip_stream
