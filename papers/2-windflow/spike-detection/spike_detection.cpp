// SPDX-License-Identifier: Apache-2.0
#include "spike_detection.hpp"

#include <cmath>
#include <utility>

#include "reading_generator.hpp"

namespace strid::apps::spike_detection {

void build(Graph& graph, const Endpoints& endpoints, const Options& options) {
    const auto keyed = [&](auto source) {
        return graph.source(std::move(source), {.name = "readings"})
            .template key_by<&Reading::device>()
            .sealed();
    };
    auto by_device =
        endpoints.generate > 0
            ? with_pace(generate_readings(endpoints.generate, endpoints.seed), endpoints, keyed)
            : with_pace(csv_file<Reading>(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                                            .dead_letter = endpoints.dead_letter}),
                        endpoints, keyed);
    const auto is_spike = [threshold = options.threshold](const Scored& scored) {
        return std::abs(scored.value - scored.mean) > threshold * scored.mean;
    };
    auto spikes = std::move(by_device)
                      .map(MovingAverage(options.window), {.name = "average"})
                      .filter(is_spike, {.name = "spikes"});
    write_results<Scored>(std::move(spikes), endpoints);
}

}  // namespace strid::apps::spike_detection
