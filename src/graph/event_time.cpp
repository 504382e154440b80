// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/graph/plan.hpp>

namespace strid::graph {

void check_event_time(const Segments& segments) {
    // Whether every stream that reaches a segment has time. Segments stand behind their producers.
    std::vector<bool> has_time(segments.all.size());
    for (std::size_t s = 0; s < segments.all.size(); ++s)
        has_time[s] = !segments.all[s]->has_source();
    for (std::size_t s = 0; s < segments.all.size(); ++s) {
        bool time = has_time[s];
        for (const OperatorInfo& op : segments.all[s]->operators()) {
            if (op.needs_watermarks && !time) {
                throw GraphError(fmt::format(
                    "operator '{}': windows of event time need event_time() in every stream that "
                    "leads to them",
                    op.name));
            }
            time = time || op.draws_watermarks;
        }
        for (const std::size_t target : segments.all[s]->targets()) {
            if (target != no_segment) has_time[target] = has_time[target] && time;
        }
    }
}

}  // namespace strid::graph
