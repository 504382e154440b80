// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

namespace strid::apps {

std::vector<std::unique_ptr<Application>> all_applications() {
    std::vector<std::unique_ptr<Application>> all;
    all.push_back(make_word_count());
    all.push_back(make_spike_detection());
    all.push_back(make_fraud_detection());
    all.push_back(make_flights());
    all.push_back(make_yahoo_benchmark());
    all.push_back(make_traffic_monitoring());
    all.push_back(make_linear_road());
    all.push_back(make_voip_stream());
    return all;
}

}  // namespace strid::apps
