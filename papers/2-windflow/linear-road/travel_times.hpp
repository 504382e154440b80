// SPDX-License-Identifier: Apache-2.0
//
// Takes the questions for travel times out, which no application answers, and counts them. One
// thread at a time.
#pragma once

#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>

#include "records.hpp"

namespace strid::apps::linear_road {

class WithoutTravelTimes {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened>, .stateless = true};

    void on(const Opened& opened) { asked_ = opened.context.counter("travel times asked"); }
    bool operator()(const Event& event) {
        if (event.kind != Kind::travel_time) [[likely]]
            return true;
        asked_.add();
        return false;
    }

  private:
    Counter asked_;
};

}  // namespace strid::apps::linear_road
