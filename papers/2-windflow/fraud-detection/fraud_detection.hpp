// SPDX-License-Identifier: Apache-2.0
//
// Fraud detection: transactions come in; out go those that end an unlikely sequence of states of
// their account.
#pragma once

#include <memory>

#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "predictor.hpp"

namespace strid::apps::fraud_detection {

struct Options {
    Score score = Score::miss_probability;
    double threshold = 0.96;  ///< An outlier: score > threshold.
};

/// Builds the graph; without a model it can be looked at but has no answer.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<const MarkovModel> model);

}  // namespace strid::apps::fraud_detection
