// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/engine/base/terminal.hpp>
#include <strid/program/pattern_picture.hpp>

namespace strid {

namespace {

using pattern::LaneKind;
using pattern::NetworkDescription;

/// Where the nodes and lanes of a network are in the drawing.
struct Places {
    std::vector<std::size_t> segment_of;  // by node
    std::vector<std::size_t> edge_of;     // by lane
};

/// The kind of a node in a picture: nodes without results are sinks.
std::string kind_of(const pattern::NodeType& type) {
    return type.kind == "node" && type.makes.empty() ? "sink" : type.kind;
}

std::vector<std::string> notes_of(const pattern::NodeType& type) {
    std::vector<std::string> notes;
    if (!type.takes.empty()) notes.push_back("takes " + type.takes);
    if (!type.makes.empty()) notes.push_back("makes " + type.makes);
    for (const std::string& function : type.fused) notes.push_back("fused: " + function);
    return notes;
}

std::string routing_of(const NetworkDescription& network, const pattern::LaneDescription& lane) {
    std::string policy = network.policy_of(lane);
    return policy.empty() ? to_string(lane.kind) : policy;
}

std::string bound_of(const NetworkDescription& network, const pattern::LaneDescription& lane) {
    if (lane.tasks_max == 0) return network.is_limited(lane) ? "within the limit" : "no bound";
    return fmt::format("{} {}{}", format_count(lane.tasks_max),
                       lane.kind == LaneKind::order ? "run" : "task",
                       lane.tasks_max == 1 ? "" : "s");
}

void add_nodes(const NetworkDescription& network, GraphDescription& drawing, Places& places) {
    const std::vector<std::size_t> first = network.first_replicas();
    for (std::size_t node = 0; node < network.nodes.size(); ++node) {
        if (first[node] != node) {
            places.segment_of.push_back(places.segment_of[first[node]]);
            ++drawing.segments[places.segment_of[node]].parallelism;
            ++drawing.segments[places.segment_of[node]].operators.front().parallelism;
            continue;
        }
        places.segment_of.push_back(drawing.segments.size());
        const pattern::NodeType& type = network.nodes[node].type;
        drawing.segments.push_back({.operators = {{.name = network.name_of_all(node),
                                                   .kind = kind_of(type),
                                                   .notes = notes_of(type)}},
                                    .refused_fraction = -1});
    }
}

void add_lanes(const NetworkDescription& network, GraphDescription& drawing, Places& places) {
    for (const auto& lane : network.lanes) {
        GraphDescription::Edge edge{.from_segment = places.segment_of[lane.from],
                                    .to_segment = places.segment_of[lane.to],
                                    .routing = routing_of(network, lane),
                                    .fill = -1,
                                    .back = lane.kind == LaneKind::back,
                                    .note = bound_of(network, lane)};
        const auto same =
            std::find_if(drawing.edges.begin(), drawing.edges.end(), [&edge](const auto& other) {
                return other.from_segment == edge.from_segment &&
                       other.to_segment == edge.to_segment && other.routing == edge.routing;
            });
        places.edge_of.push_back(static_cast<std::size_t>(same - drawing.edges.begin()));
        if (same == drawing.edges.end()) drawing.edges.push_back(std::move(edge));
    }
}

Places draw_network(const NetworkDescription& network, GraphDescription& drawing) {
    Places places;
    add_nodes(network, drawing, places);
    add_lanes(network, drawing, places);
    return places;
}

void add_figures(const pattern::Report& report, const Places& places, GraphDescription& drawing) {
    for (std::size_t node = 0; node < report.nodes.size(); ++node) {
        auto& segment = drawing.segments[places.segment_of[node]];
        const pattern::NodeReport& figures = report.nodes[node];
        segment.busy_fraction += figures.busy_share / static_cast<double>(segment.parallelism);
        auto& one = segment.operators.front();
        one.records_in += figures.counters.tasks_in;
        one.records_out += figures.counters.tasks_out;
    }
    std::vector<double> waiting(drawing.edges.size());
    std::vector<double> room(drawing.edges.size());
    for (std::size_t lane = 0; lane < report.lanes.size(); ++lane) {
        const std::size_t edge = places.edge_of[lane];
        drawing.edges[edge].records += report.lanes[lane].tasks;
        waiting[edge] += static_cast<double>(report.lanes[lane].waiting);
        room[edge] += static_cast<double>(report.network.lanes[lane].tasks_max);
    }
    if (report.ended) return;
    for (std::size_t edge = 0; edge < drawing.edges.size(); ++edge) {
        if (room[edge] != 0) drawing.edges[edge].fill = waiting[edge] / room[edge];
    }
}

}  // namespace

GraphDescription drawing_of(const NetworkDescription& network, std::string name) {
    GraphDescription drawing;
    drawing.name = std::move(name);
    (void)draw_network(network, drawing);
    return drawing;
}

GraphDescription drawing_of(const pattern::Report& report, std::string name) {
    GraphDescription drawing;
    drawing.name = std::move(name);
    drawing.seconds = report.seconds;
    const Places places = draw_network(report.network, drawing);
    add_figures(report, places, drawing);
    return drawing;
}

}  // namespace strid
