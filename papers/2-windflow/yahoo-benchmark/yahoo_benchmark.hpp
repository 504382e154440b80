// SPDX-License-Identifier: Apache-2.0
//
// The Yahoo streaming benchmark on files: events of ads come in; out go the views of each campaign
// in each window.
#pragma once

#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "views.hpp"

namespace strid::apps::yahoo_benchmark {

/// Builds the graph; with an empty table it can be looked at but has no answer. Throws GraphError
/// where the input is to be replayed.
void build(Graph& graph, const Endpoints& endpoints, const Counting& counting,
           const Campaigns& campaigns);

/// The same by the operators of paper 2 (papers_form.hpp). Throws as build().
void build_papers_form(Graph& graph, const Endpoints& endpoints, const Counting& counting,
                       const Campaigns& campaigns);

}  // namespace strid::apps::yahoo_benchmark
