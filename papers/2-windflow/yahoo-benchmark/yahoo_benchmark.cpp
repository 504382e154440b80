// SPDX-License-Identifier: Apache-2.0
#include "yahoo_benchmark.hpp"

#include <utility>

#include <strid/base/error.hpp>

namespace strid::apps::yahoo_benchmark {

void build(Graph& graph, const Endpoints& endpoints, const Counting& counting,
           const Campaigns& campaigns) {
    if (endpoints.replays()) {
        throw GraphError("yahoo-benchmark cannot be replayed: its times would begin again");
    }
    const auto count = [&](auto source) -> Stream<CampaignCount> {
        return count_views(views_by_campaign(graph.source(std::move(source), {.name = "events"}),
                                             campaigns, counting),
                           counting);
    };
    auto file = csv_file<Event>(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                                  .dead_letter = endpoints.dead_letter});
    const double rate = endpoints.rate_per_second;
    write_results<CampaignCount>(
        rate > 0 ? count(paced(std::move(file), rate)) : count(std::move(file)), endpoints);
}

}  // namespace strid::apps::yahoo_benchmark
