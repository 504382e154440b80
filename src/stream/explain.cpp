// SPDX-License-Identifier: Apache-2.0
//
// The explanation of a graph: its plan as a picture, and the term of the block algebra that the
// rules of paper 2 derive for it.
#include <fmt/format.h>

#include <strid/base/topology.hpp>
#include <strid/engine/plan/block_term.hpp>
#include <strid/engine/plan/plan.hpp>
#include <strid/stream/graph.hpp>

namespace strid {

namespace {

using graph::Delivery;
using graph::Edge;
using graph::Fragment;
using graph::Plan;
using graph::Routing;
using graph::Segments;

Plan plan_of(const Graph& graph, const RunOptions& options) {
    const Topology topology = Topology::detect();
    return graph::make_plan(graph.segments(), options, topology.cores().size());
}

std::string routing_name(const Segments& segments, const Fragment& fragment, const Edge& edge) {
    const auto& segment = *segments.all[fragment.segment];
    if (fragment.last == segment.operators().size() && !fragment.plain_output) {
        return to_string(segment.routing());
    }
    return edge.delivery == Delivery::direct ? "forward" : "rebalance";
}

/// The tasks in the order in which an affinity names their processors.
std::string tasks_of(const Segments& segments, const Plan& plan) {
    std::vector<bool> alone;
    for (const Fragment& fragment : plan.fragments) {
        alone.push_back(graph::make_node(segments, fragment, 0)->needs_own_thread());
    }
    std::string text;
    for (const graph::PlannedTask& task : graph::order_of_tasks(plan, alone)) {
        text += (text.empty() ? "" : ", ") + graph::name_of(segments, plan, task);
    }
    return text;
}

}  // namespace

GraphDescription Graph::description(const RunOptions& options) const {
    const Plan plan = plan_of(*this, options);
    GraphDescription result;
    result.name = name_;
    for (std::size_t f = 0; f < plan.fragments.size(); ++f) {
        const Fragment& fragment = plan.fragments[f];
        const auto& operators = segments_->all[fragment.segment]->operators();
        GraphDescription::Segment segment;
        segment.parallelism = fragment.parallelism;
        if (fragment.distributes) {
            segment.operators.push_back({.name = operators.back().name + "-distribution",
                                         .kind = "distribution",
                                         .parallelism = fragment.parallelism});
        }
        for (std::size_t i = fragment.first; i < fragment.last; ++i) {
            segment.operators.push_back({.name = operators[i].name,
                                         .kind = operators[i].kind,
                                         .parallelism = fragment.parallelism,
                                         .notes = operators[i].notes});
        }
        if (!fragment.why_as_many.empty()) {
            segment.operators.front().notes.emplace_back(fragment.why_as_many);
        }
        result.segments.push_back(std::move(segment));
        for (const Edge& edge : fragment.edges) {
            result.edges.push_back({.from_segment = f,
                                    .to_segment = edge.to,
                                    .routing = routing_name(*segments_, fragment, edge),
                                    .direct = plan.groups[f] == plan.groups[edge.to]});
        }
    }
    return result;
}

std::string Graph::explain(const RunOptions& options) const {
    const Plan plan = plan_of(*this, options);
    return fmt::format("{}\nTasks, as they are laid out on cores: {}\n",
                       to_text(description(options)), tasks_of(*segments_, plan));
}

std::string Graph::explain_algebra(const RunOptions& options) const {
    return "Blocks (paper 2, sections 3 and 4):\n\n" +
           graph::composition_of(*segments_, plan_of(*this, options)).explain();
}

}  // namespace strid
