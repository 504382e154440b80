// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <strid/engine/base/json_text.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/pattern/pattern_report.hpp>

namespace strid::pattern {

namespace {

/// Of each node: whether a lane leads to it, and whether one leads on from it.
struct NodeEnds {
    std::vector<bool> takes;
    std::vector<bool> leads_on;
};

NodeEnds ends_of(const NetworkDescription& network) {
    NodeEnds ends{std::vector<bool>(network.nodes.size()), std::vector<bool>(network.nodes.size())};
    for (const LaneDescription& lane : network.lanes) {
        if (lane.kind != LaneKind::forward) continue;
        ends.takes[lane.to] = true;
        ends.leads_on[lane.from] = true;
    }
    return ends;
}

std::string to_json(const NodeReport& node, const NodeDescription& description) {
    std::string counters;
    for (const auto& [name, value] : node.counters.own) {
        if (!counters.empty()) counters += ',';
        counters += fmt::format("{}:{}", json_text(name), value);
    }
    return fmt::format(
        R"({{"name":{},"kind":{},"replica":{},"tasks_in":{},"tasks_out":{},"steps":{},)"
        R"("busy_ns":{},"idle_ns":{},"tasks_per_second":{:.1f},"task_ns":{:.1f},)"
        R"("busy_share":{:.3f},"idle_share":{:.3f},"finished":{},"counters":{{{}}}}})",
        json_text(node.name), json_text(description.type.kind), description.replica,
        node.counters.tasks_in, node.counters.tasks_out, node.counters.steps.steps,
        node.counters.steps.busy_ns, node.counters.steps.idle_ns, node.tasks_per_second,
        node.task_ns, node.busy_share, node.idle_share, node.counters.steps.finished, counters);
}

std::string to_json(const LaneCounts& counts, const LaneDescription& lane) {
    return fmt::format(
        R"({{"from":{},"to":{},"kind":"{}","tasks_max":{},"task_bytes":{},"tasks":{},)"
        R"("waiting":{}}})",
        lane.from, lane.to, to_string(lane.kind),
        lane.tasks_max == 0 ? "null" : fmt::format("{}", lane.tasks_max), lane.task_bytes,
        counts.tasks, counts.waiting);
}

/// Columns as wide as their widest cell: the first to the left, the others to the right.
template <std::size_t columns>
std::string table(const std::vector<std::array<std::string, columns>>& rows) {
    std::array<std::size_t, columns> widths{};
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line = fmt::format("{:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < columns; ++i)
            line += fmt::format("  {:>{}}", row[i], widths[i]);
        text += line + '\n';
    }
    return text;
}

std::string share_text(double share) {
    return fmt::format("{:.0f} %", std::clamp(share, 0.0, 1.0) * 100);
}

}  // namespace

std::uint64_t Report::tasks_in() const {
    const NodeEnds ends = ends_of(network);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!ends.takes[i]) sum += nodes[i].counters.tasks_out;
    }
    return sum;
}

std::uint64_t Report::tasks_done() const {
    const NodeEnds ends = ends_of(network);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!ends.leads_on[i]) sum += nodes[i].counters.tasks_in;
    }
    return sum;
}

double Report::fill(std::size_t lane) const {
    const std::size_t most = network.lanes[lane].tasks_max;
    if (most == 0) return 0;
    return static_cast<double>(lanes[lane].waiting) / static_cast<double>(most);
}

std::string Report::to_json() const {
    std::string node_list;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        node_list += (i == 0 ? "" : ",") + pattern::to_json(nodes[i], network.nodes[i]);
    }
    std::string lane_list;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        lane_list += (i == 0 ? "" : ",") + pattern::to_json(lanes[i], network.lanes[i]);
    }
    return fmt::format(
        R"({{"seconds":{:.6f},"ended":{},"threads":{},"tasks_in":{},"tasks_done":{},)"
        R"("nodes":[{}],"lanes":[{}]}})",
        seconds, ended, network.threads, tasks_in(), tasks_done(), node_list, lane_list);
}

std::string Report::to_text() const {
    std::vector<std::array<std::string, 7>> rows{
        {"node", "in", "out", "tasks/s", "task time", "busy", "idle"}};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeReport& node = nodes[i];
        rows.push_back({node.name, format_count(node.counters.tasks_in),
                        format_count(node.counters.tasks_out),
                        format_quantity(node.tasks_per_second),
                        format_latency(static_cast<std::int64_t>(node.task_ns)),
                        share_text(node.busy_share), share_text(node.idle_share)});
    }
    std::vector<std::array<std::string, 4>> lane_rows{{"lane", "tasks", "waiting", "of"}};
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const LaneDescription& lane = network.lanes[i];
        std::string ends =
            fmt::format("{} -> {}", network.nodes[lane.from].name, network.nodes[lane.to].name);
        if (lane.kind != LaneKind::forward) ends += fmt::format(" ({})", to_string(lane.kind));
        lane_rows.push_back({std::move(ends), format_count(lanes[i].tasks),
                             format_count(lanes[i].waiting),
                             lane.tasks_max == 0 ? "no bound" : format_count(lane.tasks_max)});
    }
    return table(rows) + table(lane_rows);
}

}  // namespace strid::pattern
