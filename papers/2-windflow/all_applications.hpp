// SPDX-License-Identifier: Apache-2.0
//
// The applications of paper 2 and flights in one program: for `strid bench` and the tests. One
// thread.
#pragma once

#include <memory>
#include <vector>

#include "apps/common/application.hpp"

namespace strid::apps {

[[nodiscard]] std::unique_ptr<Application> make_word_count();
[[nodiscard]] std::unique_ptr<Application> make_spike_detection();
[[nodiscard]] std::unique_ptr<Application> make_fraud_detection();
[[nodiscard]] std::unique_ptr<Application> make_flights();
[[nodiscard]] std::unique_ptr<Application> make_yahoo_benchmark();
[[nodiscard]] std::unique_ptr<Application> make_traffic_monitoring();
[[nodiscard]] std::unique_ptr<Application> make_linear_road();
[[nodiscard]] std::unique_ptr<Application> make_voip_stream();

/// One of each, in the order in which they are listed.
[[nodiscard]] inline std::vector<std::unique_ptr<Application>> all_applications() {
    std::vector<std::unique_ptr<Application>> all;
    for (const auto make :
         {make_word_count, make_spike_detection, make_fraud_detection, make_flights,
          make_yahoo_benchmark, make_traffic_monitoring, make_linear_road, make_voip_stream}) {
        all.push_back(make());
    }
    return all;
}

}  // namespace strid::apps
