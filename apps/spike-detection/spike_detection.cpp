// SPDX-License-Identifier: Apache-2.0
#include "spike_detection.hpp"

#include <cmath>
#include <utility>

namespace strid::apps::spike_detection {

void build(Graph& graph, const Endpoints& endpoints, const Options& options) {
    auto readings = csv_file<Reading>(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                                        .dead_letter = endpoints.dead_letter});
    auto by_device = with_pace(std::move(readings), endpoints, [&](auto source) {
        return graph.source(std::move(source), {.name = "readings"})
            .template key_by<&Reading::device>()
            .sealed();
    });
    const auto is_spike = [threshold = options.threshold](const Scored& scored) {
        return std::abs(scored.value - scored.mean) > threshold * scored.mean;
    };
    auto spikes = std::move(by_device)
                      .map(MovingAverage(options.window), {.name = "average"})
                      .filter(is_spike, {.name = "spikes"});
    write_results<Scored>(std::move(spikes), endpoints);
}

}  // namespace strid::apps::spike_detection
