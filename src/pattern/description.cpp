// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/base/terminal.hpp>
#include <strid/engine/pattern/node_type.hpp>
#include <strid/pattern/description.hpp>

namespace strid::pattern {

namespace detail {

PartDescription description_of(PartDescription::Kind kind, std::string policy,
                               const FarmOptions& options, std::size_t workers) {
    PartDescription farm{.kind = kind, .text = std::move(policy), .workers = workers};
    if (options.in_use) {
        farm.in_use = options.in_use->goes_by_load()
                          ? fmt::format("by the load, {} at least", options.in_use->at_least())
                          : fmt::format("{} at first", options.in_use->now());
    }
    return farm;
}

std::string text_of(const Limit& limit) {
    std::string text;
    if (limit.tasks != 0) {
        text = fmt::format("{} task{}", format_count(limit.tasks), limit.tasks == 1 ? "" : "s");
    }
    if (limit.bytes != 0) {
        if (!text.empty()) text += ", ";
        text += fmt::format("{} bytes", format_count(limit.bytes));
    }
    if (limit.when_full == WhenFull::drop_newest) text += ", the newest that waits is dropped";
    if (limit.when_full == WhenFull::drop_oldest) text += ", the oldest that waits is dropped";
    return text;
}

std::string bare_name(std::string name) {
    if (name.ends_with('>')) {
        std::size_t depth = 0;
        std::size_t at = name.size();
        do {
            --at;
            if (name[at] == '>') ++depth;
            if (name[at] == '<') --depth;
        } while (depth != 0 && at != 0);
        name.erase(at);
    }
    const auto scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace detail

namespace {

using Kind = PartDescription::Kind;

/// Each replica of what a farm is made of is built alike: its nodes stand for those of the first
/// one, in their order.
void find_replicas(const std::vector<PartDescription>& parts, std::vector<std::size_t>& first) {
    for (const PartDescription& part : parts) {
        find_replicas(part.parts, first);
        if (part.kind != Kind::farm && part.kind != Kind::ordered_farm) continue;
        const PartDescription& original = part.parts.front();
        for (const PartDescription& worker : part.parts) {
            for (std::size_t node = worker.first_node; node < worker.end_node; ++node) {
                const std::size_t place = first[node] - worker.first_node;
                first[node] = first[original.first_node + place];
            }
        }
    }
}

bool has(const PartDescription& part, std::size_t node) {
    return part.first_node <= node && node < part.end_node;
}

/// The one of these parts that a node lies in; null where it lies in none.
const PartDescription* part_of(const std::vector<PartDescription>& parts, std::size_t node) {
    const auto behind = std::upper_bound(
        parts.begin(), parts.end(), node,
        [](std::size_t number, const PartDescription& part) { return number < part.end_node; });
    return behind != parts.end() && has(*behind, node) ? &*behind : nullptr;
}

/// The innermost farm that a lane leads into.
const PartDescription* farm_of(const std::vector<PartDescription>& parts,
                               const LaneDescription& lane) {
    const PartDescription* part = part_of(parts, lane.to);
    if (part == nullptr) return nullptr;
    if (const PartDescription* inner = farm_of(part->parts, lane)) return inner;
    const bool is_farm = part->kind == Kind::farm || part->kind == Kind::ordered_farm;
    return is_farm && !has(*part, lane.from) ? part : nullptr;
}

}  // namespace

const char* to_string(LaneKind kind) noexcept {
    switch (kind) {
        case LaneKind::forward:
            return "forward";
        case LaneKind::back:
            return "back";
        case LaneKind::order:
            return "order";
    }
    return "?";
}

std::vector<std::size_t> NetworkDescription::first_replicas() const {
    std::vector<std::size_t> first(nodes.size());
    for (std::size_t node = 0; node < first.size(); ++node) first[node] = node;
    find_replicas(parts, first);
    return first;
}

std::string NetworkDescription::policy_of(const LaneDescription& lane) const {
    if (lane.kind != LaneKind::forward) return {};
    const PartDescription* farm = farm_of(parts, lane);
    return farm == nullptr ? std::string() : farm->text;
}

bool NetworkDescription::is_limited(const LaneDescription& lane) const {
    const PartDescription* part = part_of(parts, lane.to);
    while (part != nullptr && part->kind != Kind::limited) part = part_of(part->parts, lane.to);
    return part != nullptr;
}

std::string NetworkDescription::name_of_all(std::size_t node) const {
    const std::string& name = nodes[node].name;
    if (nodes[node].replicas == 1) return name;
    return name.substr(0, name.rfind(", replica "));
}

std::size_t NetworkDescription::lane_bytes_max() const noexcept {
    std::size_t bytes = 0;
    for (const LaneDescription& lane : lanes) bytes += lane.bytes_max();
    return bytes;
}

}  // namespace strid::pattern
