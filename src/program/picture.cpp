// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/picture.hpp>
#include <strid/program/session.hpp>

namespace strid {

namespace {

/// An edge is alone at one of its ends: a branch of a split that merges with others as it is goes
/// through a segment of its own.
std::uint64_t records_of(const GraphDescription::Edge& edge, const GraphDescription& graph) {
    const auto edges_to = std::count_if(graph.edges.begin(), graph.edges.end(), [&](const auto& e) {
        return e.to_segment == edge.to_segment;
    });
    // Where streams merge, what came in is shown by its origin.
    if (edges_to == 1) return graph.segments[edge.to_segment].operators.front().records_in;
    return graph.segments[edge.from_segment].operators.back().records_out;
}

GraphDescription::Split split_of(const LatencySplit& split) {
    return {split.user_mean_ns, split.engine_mean_ns, split.waiting_mean_ns};
}

}  // namespace

GraphDescription annotated(GraphDescription graph, const RunReport& report) {
    if (graph.segments.size() != report.segments.size()) return graph;
    graph.seconds = report.seconds;
    graph.path = split_of(report.path);
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
        segment.split = split_of(measured.split);
    }
    for (auto& edge : graph.edges) {
        edge.records = records_of(edge, graph);
        edge.fill = report.segments[edge.to_segment].queue_fill;
    }
    return graph;
}

std::string picture_of(const GraphDescription& description, std::string_view path) {
    if (path.ends_with(".svg")) return to_svg(description);
    if (path.ends_with(".dot")) return to_dot(description);
    if (path.ends_with(".txt")) return to_text(description);
    throw GraphError(fmt::format("--graph {}: the name must end in .svg, .dot or .txt", path));
}

void draw(const GraphDescription& description, const std::string& path) {
    write_file(path, picture_of(description, path));
}

}  // namespace strid
