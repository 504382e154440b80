// SPDX-License-Identifier: Apache-2.0
//
// Spike detection: readings of sensors come in; out go those that are far from the recent mean of
// their sensor.
#pragma once

#include <cstddef>

#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "moving_average.hpp"

namespace strid::apps::spike_detection {

struct Options {
    double threshold = 0.25;    ///< A spike: |value - mean| > threshold * mean.
    std::size_t window = 1000;  ///< Readings of a device that the mean is over, at least 1.
};

void build(Graph& graph, const Endpoints& endpoints, const Options& options);

}  // namespace strid::apps::spike_detection
