// SPDX-License-Identifier: Apache-2.0
#include "shared_streams.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace strid::graph {

namespace {

bool feeds_every_replica(const Fragment& producer, std::size_t consumer) {
    return std::ranges::all_of(producer.edges, [consumer](const Edge& edge) {
        return edge.to != consumer || edge.delivery != Delivery::direct;
    });
}

bool draws_watermarks(const Fragment& fragment, const Segments& segments) {
    const auto& operators = segments.all[fragment.segment]->operators();
    for (std::size_t i = fragment.first; i != fragment.last; ++i) {
        if (operators[i].draws_watermarks) return true;
    }
    return false;
}

}  // namespace

void find_shared_streams(Plan& plan, const Segments& segments) {
    std::vector<bool> shares(plan.fragments.size());  // whether its replicas do
    for (std::size_t f = 0; f < plan.fragments.size(); ++f) {
        Fragment& fragment = plan.fragments[f];
        // A replica with one producer has nothing to wait for.
        fragment.waits_for_idle =
            fragment.producers.size() == 1 && shares[fragment.producers.front()] &&
            feeds_every_replica(plan.fragments[fragment.producers.front()], f);
        shares[f] = fragment.parallelism > 1 && !fragment.producers.empty() &&
                    !draws_watermarks(fragment, segments) &&
                    std::ranges::all_of(fragment.producers, [&](std::size_t producer) {
                        return shares[producer] || feeds_every_replica(plan.fragments[producer], f);
                    });
    }
}

}  // namespace strid::graph
