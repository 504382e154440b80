// SPDX-License-Identifier: Apache-2.0
//
// The graph itself: checks of its vertices and edges, and the order of the vertices.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/dag.hpp>

namespace strid::block {

std::size_t Dag::add_vertex(OperatorDescriptor descriptor, Attachment attachment) {
    const auto refuse = [&](Refusal refusal) {
        throw GraphError(fmt::format("operator '{}': {}", descriptor.name, to_string(refusal)));
    };
    for (const Vertex& vertex : vertices_) {
        if (vertex.descriptor.name == descriptor.name) refuse(Refusal::duplicate_name);
    }
    if (descriptor.replicas == 0) refuse(Refusal::no_replicas);
    if (!is_admissible(descriptor.kind, descriptor.distribution)) refuse(Refusal::inadmissible);
    vertices_.push_back({std::move(descriptor), attachment, {}, {}, {}});
    return vertices_.size() - 1;
}

void Dag::add_edge(std::size_t from, std::size_t to) {
    if (from >= vertices_.size() || to >= vertices_.size()) {
        throw GraphError("an edge names an operator that is not in the graph");
    }
    const auto refuse = [&](std::string_view reason) {
        throw GraphError(fmt::format("edge from '{}' to '{}': {}", vertices_[from].descriptor.name,
                                     vertices_[to].descriptor.name, reason));
    };
    if (vertices_[from].descriptor.kind == OperatorKind::sink) refuse(to_string(Refusal::closed));
    if (vertices_[to].descriptor.kind == OperatorKind::source)
        refuse(to_string(Refusal::source_inside));
    if (std::find(edges_.begin(), edges_.end(), Edge{from, to}) != edges_.end())
        refuse("it exists already");
    edges_.push_back({from, to});
    vertices_[from].successors.push_back(to);
    vertices_[to].predecessors.push_back(from);
}

void Dag::route(std::size_t vertex, ShuffleComposition composition) {
    vertices_.at(vertex).routing = composition;
}

std::optional<ShuffleComposition> Dag::routing_at(std::size_t vertex) const {
    return vertices_.at(vertex).routing;
}

const OperatorDescriptor& Dag::operator_at(std::size_t vertex) const {
    return vertices_.at(vertex).descriptor;
}

Attachment Dag::attachment_at(std::size_t vertex) const {
    return vertices_.at(vertex).attachment;
}

const std::vector<std::size_t>& Dag::successors(std::size_t vertex) const {
    return vertices_.at(vertex).successors;
}

const std::vector<std::size_t>& Dag::predecessors(std::size_t vertex) const {
    return vertices_.at(vertex).predecessors;
}

std::vector<std::size_t> Dag::topological_order() const {
    std::vector<std::size_t> missing(size());
    std::vector<std::size_t> ready;
    for (std::size_t vertex = size(); vertex-- > 0;) {
        missing[vertex] = predecessors(vertex).size();
        if (missing[vertex] == 0) ready.push_back(vertex);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t vertex = ready.back();
        ready.pop_back();
        order.push_back(vertex);
        // Reversed, so that the first branch is on top of the stack.
        const std::vector<std::size_t>& next = successors(vertex);
        for (auto successor = next.rbegin(); successor != next.rend(); ++successor) {
            if (--missing[*successor] == 0) ready.push_back(*successor);
        }
    }
    if (order.size() == size()) return order;
    std::string names;
    for (std::size_t vertex = 0; vertex < size(); ++vertex) {
        if (missing[vertex] > 0) names += (names.empty() ? "" : ", ") + operator_at(vertex).name;
    }
    throw GraphError("the graph has a cycle; these operators are on it or behind it: " + names);
}

}  // namespace strid::block
