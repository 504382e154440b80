// SPDX-License-Identifier: Apache-2.0
#include "yahoo_benchmark.hpp"

#include <utility>

#include <strid/base/error.hpp>

#include "papers_form.hpp"

namespace strid::apps::yahoo_benchmark {

namespace {

/// Calls `next` with the stream of the events. Throws GraphError where they are to be replayed.
template <class Next>
void with_events(Graph& graph, const Endpoints& endpoints, Next next) {
    if (endpoints.replays()) {
        throw GraphError("yahoo-benchmark cannot be replayed: its times would begin again");
    }
    const auto read = [&](auto source) {
        next(graph.source(std::move(source), {.name = "events"}));
    };
    auto file = csv_file<Event>(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                                  .dead_letter = endpoints.dead_letter});
    const double rate = endpoints.rate_per_second;
    if (rate > 0) {
        read(paced(std::move(file), rate));
    } else {
        read(std::move(file));
    }
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Counting& counting,
           const Campaigns& campaigns) {
    with_events(graph, endpoints, [&](auto events) {
        auto views = views_by_campaign(std::move(events), campaigns, counting);
        Stream<CampaignCount> counts = count_views(std::move(views), counting);
        write_results<CampaignCount>(std::move(counts), endpoints);
    });
}

void build_papers_form(Graph& graph, const Endpoints& endpoints, const Counting& counting,
                       const Campaigns& campaigns) {
    with_events(graph, endpoints, [&](auto events) {
        count_in_papers_form(std::move(events), endpoints, counting, campaigns);
    });
}

}  // namespace strid::apps::yahoo_benchmark
