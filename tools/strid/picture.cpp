// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "commands.hpp"

namespace strid::tool {

namespace {

std::uint64_t records_of(const GraphDescription::Edge& edge, const GraphDescription& graph) {
    const auto edges_to = std::count_if(graph.edges.begin(), graph.edges.end(), [&](const auto& e) {
        return e.to_segment == edge.to_segment;
    });
    // Where streams merge, what came in is told apart by where it came from.
    if (edges_to == 1) return graph.segments[edge.to_segment].operators.front().records_in;
    return graph.segments[edge.from_segment].operators.back().records_out;
}

}  // namespace

GraphDescription annotated(GraphDescription graph, const RunReport& report) {
    if (graph.segments.size() != report.segments.size()) return graph;
    graph.seconds = report.seconds;
    const double run_ns = std::max(report.seconds, 1e-9) * 1e9;
    for (std::size_t s = 0; s < graph.segments.size(); ++s) {
        auto& segment = graph.segments[s];
        const SegmentReport& measured = report.segments[s];
        const auto operators = std::min(segment.operators.size(), measured.operators.size());
        for (std::size_t i = 0; i < operators; ++i) {
            segment.operators[i].records_in = measured.operators[i].records_in;
            segment.operators[i].records_out = measured.operators[i].records_out;
        }
        const double replicas = static_cast<double>(std::max<std::size_t>(segment.parallelism, 1));
        segment.busy_fraction = static_cast<double>(measured.busy_ns) / run_ns / replicas;
        segment.refused_fraction = static_cast<double>(measured.refused_ns) / run_ns / replicas;
        segment.latency_p50_ns = measured.latency.p50_ns;
        segment.latency_p99_ns = measured.latency.p99_ns;
    }
    for (auto& edge : graph.edges) {
        edge.records = records_of(edge, graph);
        edge.fill = report.segments[edge.to_segment].queue_fill;
    }
    return graph;
}

void check_picture_path(const std::string& path) {
    if (path.ends_with(".svg") || path.ends_with(".dot") || path.ends_with(".txt")) return;
    throw GraphError(fmt::format("--graph {}: the name must end in .svg, .dot or .txt", path));
}

void draw(const GraphDescription& description, const std::string& path) {
    check_picture_path(path);
    write_file(path, path.ends_with(".svg")   ? to_svg(description)
                     : path.ends_with(".dot") ? to_dot(description)
                                              : to_text(description));
}

}  // namespace strid::tool
