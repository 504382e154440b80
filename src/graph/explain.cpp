// SPDX-License-Identifier: Apache-2.0
//
// A graph told to a person: its plan as a picture, and the term of the block algebra that the rules
// of paper 2 derive for it.
#include <map>

#include <fmt/format.h>

#include <strid/base/topology.hpp>
#include <strid/block/dag.hpp>
#include <strid/graph/graph.hpp>
#include <strid/graph/plan.hpp>

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

block::OperatorKind kind_of(const std::string& kind) {
    static const std::map<std::string, block::OperatorKind> kinds{
        {"source", block::OperatorKind::source},
        {"sink", block::OperatorKind::sink},
        {"map", block::OperatorKind::map},
        {"route", block::OperatorKind::map},
        {"filter", block::OperatorKind::filter},
        {"flat_map", block::OperatorKind::flat_map},
        {"accumulate", block::OperatorKind::accumulator},
        {"reduce", block::OperatorKind::accumulator},
        {"window", block::OperatorKind::keyed_windows},
        {"join", block::OperatorKind::accumulator},
        {"parallel_windows", block::OperatorKind::parallel_windows},
        {"paned_windows", block::OperatorKind::paned_windows},
        {"map_reduce_windows", block::OperatorKind::map_reduce_windows}};
    // What is made of others (the time of a stream, combining before sending, collectors) stands in
    // the algebra as what it looks like from outside. Of the two levels of paned and map-reduce
    // windows the first has the paper's name and its distribution, the second is a keyed window.
    const auto found = kinds.find(kind);
    return found == kinds.end() ? block::OperatorKind::flat_map : found->second;
}

/// The distribution of the first operator of a fragment, as the algebra names it.
block::DistributionKind distribution_of(const Plan& plan, const Fragment& fragment,
                                        block::OperatorKind kind) {
    if (fragment.producers.empty()) return block::DistributionKind::none;
    if (block::default_distribution(kind) == block::DistributionKind::complex) {
        return block::DistributionKind::complex;
    }
    for (const std::size_t p : fragment.producers) {
        for (const Edge& edge : plan.fragments[p].edges) {
            if (&plan.fragments[edge.to] != &fragment) continue;
            if (edge.delivery == Delivery::by_key) return block::DistributionKind::keyby;
            if (edge.delivery == Delivery::to_all) return block::DistributionKind::broadcast;
        }
    }
    return block::DistributionKind::forward;
}

block::Dag dag_of(const Segments& segments, const Plan& plan, const RunOptions& options) {
    block::Dag dag;
    std::vector<std::pair<std::size_t, std::size_t>> ends;  // per fragment: first, last vertex
    for (const Fragment& fragment : plan.fragments) {
        const auto& operators = segments.all[fragment.segment]->operators();
        std::size_t first = 0;
        std::size_t previous = 0;
        for (std::size_t i = fragment.first; i < fragment.last; ++i) {
            const bool leads = i == fragment.first;
            const std::size_t vertex = dag.add_vertex(
                {.name = operators[i].name,
                 .kind = kind_of(operators[i].kind),
                 .distribution = leads ? distribution_of(plan, fragment, kind_of(operators[i].kind))
                                       : block::DistributionKind::forward,
                 .replicas = fragment.parallelism},
                leads || !options.fuse ? block::Attachment::add : block::Attachment::chain);
            if (leads) {
                first = vertex;
            } else {
                dag.add_edge(previous, vertex);
            }
            previous = vertex;
        }
        ends.emplace_back(first, previous);
    }
    for (std::size_t f = 0; f < plan.fragments.size(); ++f) {
        for (const Edge& edge : plan.fragments[f].edges) {
            dag.add_edge(ends[f].second, ends[edge.to].first);
        }
    }
    return dag;
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

/// The algebra composes distributions itself; it is given the plan without them.
block::ShuffleComposition shuffle(Composition composition) noexcept {
    switch (composition) {
        case Composition::combined:
            return block::ShuffleComposition::combined;
        case Composition::dedicated:
            return block::ShuffleComposition::dedicated;
        case Composition::centralised:
            return block::ShuffleComposition::centralised;
    }
    return block::ShuffleComposition::combined;
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
    RunOptions combined = options;
    combined.composition = Composition::combined;
    const block::Composition composition = block::compose(
        dag_of(*segments_, plan_of(*this, combined), options), shuffle(options.composition));
    return fmt::format(
        "{}\nTasks, as they are laid out on cores: {}\n\nBlocks (paper 2, sections 3 and 4):\n\n{}",
        to_text(description(options)), tasks_of(*segments_, plan_of(*this, options)),
        composition.explain());
}

}  // namespace strid
