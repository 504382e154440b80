// SPDX-License-Identifier: Apache-2.0
//
// The explanation of a network. Replicas are shown once.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <strid/engine/base/terminal.hpp>
#include <strid/pattern/description.hpp>

namespace strid::pattern {

namespace {

using Kind = PartDescription::Kind;

std::string bytes_text(std::size_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    if (bytes % 1024 == 0) return fmt::format("{} KiB", format_count(bytes / 1024));
    return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}

std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

/// Lanes between the same nodes, all replicas together.
struct LaneGroup {
    std::size_t from, to;
    LaneDescription one;
    std::size_t count = 0;
};

std::vector<LaneGroup> groups_of(const NetworkDescription& network) {
    const std::vector<std::size_t> first = network.first_replicas();
    std::vector<LaneGroup> groups;
    for (const LaneDescription& lane : network.lanes) {
        const std::size_t from = first[lane.from];
        const std::size_t to = first[lane.to];
        auto group = std::find_if(groups.begin(), groups.end(), [&](const LaneGroup& other) {
            return other.from == from && other.to == to && other.one.kind == lane.kind;
        });
        if (group == groups.end()) group = groups.insert(group, {from, to, lane});
        ++group->count;
    }
    return groups;
}

class Explanation {
  public:
    explicit Explanation(const NetworkDescription& network)
        : network_(network), groups_(groups_of(network)) {}

    std::string text() {
        text_ = "Parts\n";
        describe_range(0, network_.nodes.size(), network_.parts, 1);
        describe_lanes();
        describe_threads();
        describe_unbounded();
        return std::move(text_);
    }

  private:
    void line(std::size_t depth, std::string_view text) {
        text_ += fmt::format("{:{}}{}\n", "", 2 * depth, text);
    }

    void describe_range(std::size_t first, std::size_t end,
                        const std::vector<PartDescription>& parts, std::size_t depth) {
        std::size_t node = first;
        for (const PartDescription& part : parts) {
            for (; node < part.first_node; ++node) describe_node(node, depth);
            describe_part(part, {}, depth);
            node = part.end_node;
        }
        for (; node < end; ++node) describe_node(node, depth);
    }
    void describe_part(const PartDescription& part, const std::string& name, std::size_t depth) {
        if (part.kind == Kind::named) {
            const bool is_one = part.parts.size() == 1 &&
                                part.parts[0].first_node == part.first_node &&
                                part.parts[0].end_node == part.end_node;
            if (is_one) return describe_part(part.parts[0], fmt::format(" '{}'", part.text), depth);
            return describe_range(part.first_node, part.end_node, part.parts, depth);
        }
        line(depth, title(part, name));
        if (part.kind != Kind::farm && part.kind != Kind::ordered_farm) {
            return describe_range(part.first_node, part.end_node, part.parts, depth + 1);
        }
        const PartDescription& worker = part.parts.front();
        describe_range(worker.first_node, worker.end_node, worker.parts, depth + 1);
        const std::size_t behind = part.parts.back().end_node;
        for (std::size_t node = behind; node < part.end_node; ++node)
            describe_node(node, depth + 1);
    }
    static std::string title(const PartDescription& part, const std::string& name) {
        const auto farm = [&](std::string_view kind) {
            std::string text = fmt::format("{}{} of {}, {}", kind, name,
                                           plural(part.workers, "worker"), part.text);
            if (!part.in_use.empty()) text += fmt::format(", in use {}", part.in_use);
            return text;
        };
        switch (part.kind) {
            case Kind::pipeline:
                return "pipeline" + name;
            case Kind::farm:
                return farm("farm");
            case Kind::ordered_farm:
                return farm("ordered farm");
            case Kind::loop:
                return "loop" + name;
            case Kind::limited:
                return fmt::format("limited{} to {}", name, part.text);
            case Kind::worker:
            case Kind::named:
                break;
        }
        return {};
    }
    void describe_node(std::size_t number, std::size_t depth) {
        const NodeDescription& node = network_.nodes[number];
        std::string text = network_.name_of_all(number);
        if (node.type.kind != "node" && !text.starts_with(node.type.kind)) {
            text += fmt::format(" ({})", node.type.kind);
        }
        const NodeType& type = node.type;
        if (!type.takes.empty() || !type.makes.empty()) text += ": ";
        if (!type.takes.empty()) text += "takes " + type.takes;
        if (!type.takes.empty() && !type.makes.empty()) text += ", ";
        if (!type.makes.empty()) text += "makes " + type.makes;
        if (type.uses_resource) text += ", while it has a resource";
        line(depth, text);
        for (const std::string& function : type.fused) line(depth + 1, "fused: " + function);
    }

    [[nodiscard]] std::string ends_of(const LaneGroup& group) const {
        return fmt::format("{} -> {}", network_.name_of_all(group.from),
                           network_.name_of_all(group.to));
    }
    void describe_lanes() {
        text_ += "Lanes\n";
        for (const LaneGroup& group : groups_) {
            const LaneDescription& lane = group.one;
            std::string text = ends_of(group) + ": ";
            if (group.count != 1) text += plural(group.count, "lane") + " of ";
            if (lane.tasks_max == 0) {
                text += fmt::format("any number of tasks of {}, back", bytes_text(lane.task_bytes));
                if (network_.is_limited(lane)) text += ", within the limit";
            } else {
                text += fmt::format("{} of {}, {}", plural(lane.tasks_max, noun_of(lane)),
                                    bytes_text(lane.task_bytes),
                                    bytes_text(group.count * lane.bytes_max()));
            }
            if (lane.kind == LaneKind::order) text += ", the order of the tasks";
            const std::string policy = network_.policy_of(lane);
            if (!policy.empty()) text += ", " + policy;
            line(1, text);
        }
        line(1, fmt::format("all that have a bound: {}", bytes_text(network_.lane_bytes_max())));
    }
    static std::string_view noun_of(const LaneDescription& lane) {
        return lane.kind == LaneKind::order ? "run" : "task";
    }
    void describe_threads() {
        text_ += "Threads\n";
        const std::string nodes = plural(network_.nodes.size(), "node");
        line(1, network_.threads == 0
                    ? fmt::format("none of its own: those that wait for it step its {}", nodes)
                    : fmt::format("{} for {}", network_.threads, nodes));
    }
    void describe_unbounded() {
        text_ += "Without bound\n";
        bool any = false;
        for (const LaneGroup& group : groups_) {
            if (group.one.kind != LaneKind::back || network_.is_limited(group.one)) continue;
            any = true;
            line(1, "tasks that go back, " + ends_of(group));
        }
        for (const NodeDescription& node : network_.nodes) {
            if (node.type.kind != "exit") continue;
            any = true;
            line(1, "results that are not taken, at " + node.name);
        }
        if (!any) line(1, "nothing");
    }

    const NetworkDescription& network_;
    std::vector<LaneGroup> groups_;
    std::string text_;
};

}  // namespace

std::string explain(const NetworkDescription& network) {
    return Explanation(network).text();
}

}  // namespace strid::pattern
