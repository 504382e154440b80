// SPDX-License-Identifier: Apache-2.0
#include "graph_json.hpp"

#include <fmt/format.h>

#include <strid/engine/base/json_text.hpp>

namespace strid::operate {

namespace {

std::string operators_json(const GraphDescription::Segment& segment) {
    std::string list;
    for (const auto& op : segment.operators) {
        if (!list.empty()) list += ',';
        list += fmt::format(R"({{"name":{},"kind":{},"parallelism":{}}})", json_text(op.name),
                            json_text(op.kind), op.parallelism);
    }
    return list;
}

}  // namespace

std::string graph_json(const GraphDescription& graph) {
    std::string segments;
    for (const auto& segment : graph.segments) {
        if (!segments.empty()) segments += ',';
        segments += fmt::format(R"({{"parallelism":{},"operators":[{}]}})", segment.parallelism,
                                operators_json(segment));
    }
    std::string edges;
    for (const auto& edge : graph.edges) {
        if (!edges.empty()) edges += ',';
        edges += fmt::format(R"({{"from":{},"to":{},"routing":{},"back":{}}})", edge.from_segment,
                             edge.to_segment, json_text(edge.routing), edge.back);
    }
    return fmt::format(R"({{"name":{},"segments":[{}],"edges":[{}]}})"
                       "\n",
                       json_text(graph.name), segments, edges);
}

}  // namespace strid::operate
