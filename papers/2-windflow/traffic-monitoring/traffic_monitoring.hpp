// SPDX-License-Identifier: Apache-2.0
//
// Traffic monitoring (paper 2, section 5.1): fixes of vehicles are matched to roads, and the mean
// speed of each road is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "matchers.hpp"

namespace strid::apps::traffic_monitoring {

/// Fixes on a road so far.
struct RoadSpeed {
    std::int64_t road;
    double mean_speed;  ///< km/h
    std::uint64_t count;
};

enum class Matcher : std::uint8_t { nearest, hidden_markov };

struct Options {
    Matcher matcher = Matcher::nearest;
    MarkovOptions markov;
    Emit emit = Emit::every_update;  ///< A row per match, or one per road at the end.
    bool ordered = false;            ///< The rows of a road come in the order of the input.
    /// Of vehicle, latitude, longitude, speed and bearing.
    std::vector<CsvColumn> columns{1, 2, 3, 4, 5};
};

/// Builds the graph; without an index it can be looked at but has no answer.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<const RoadIndex> index);
/// The four operators of paper 2, figure 11: fixes, match, speed, and the writer. The rows are
/// those of `build` with the nearest road and every update, in the order of the input.
void build_papers_form(Graph& graph, const Endpoints& endpoints, const Options& options,
                       std::shared_ptr<const RoadIndex> index);

}  // namespace strid::apps::traffic_monitoring
