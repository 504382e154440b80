// SPDX-License-Identifier: Apache-2.0
#include "states_before.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strid {

namespace {

bool has_state(const std::string& type) {
    return !type.empty() && type != "std::tuple<>";
}

/// Each key is in one replica: all records are dealt out by it, or there is one.
bool is_by_key(const SnapshotNode& node) {
    return node.is_by_key || node.parallelism == 1;
}

[[noreturn]] void refuse_damage() {
    throw StateError("the snapshot is damaged: its nodes are not complete");
}

}  // namespace

StatesBefore::StatesBefore(Snapshot before, const std::vector<SnapshotNode>& now)
    : before_(std::move(before)) {
    auto places = places_by_name();
    const auto& nodes = before_.description.nodes;
    std::size_t at = 0;
    bool has_same_links = true;
    for (const SnapshotNode& node : now) {
        has_same_links = has_same_links && at < nodes.size() &&
                         nodes[at].operators == node.operators &&
                         nodes[at].parallelism == node.parallelism;
        at += node.parallelism;
        Section& section =
            sections_.emplace_back(Section{node.parallelism, is_by_key(node), has_same_links});
        for (std::size_t i = 0; i != node.operators.size(); ++i) {
            auto& found = places[node.operators[i]];
            if (found.empty()) {
                difference_ = fmt::format("operator '{}' is new", node.operators[i]);
                return;
            }
            section.places.push_back(found.front());
            found.erase(found.begin());
            compare(node, section.places.back(), i);
            if (!difference_.empty()) return;
        }
    }
    for (const auto& [name, left] : places) {
        if (left.empty()) continue;
        difference_ = fmt::format("operator '{}' is not there any more", name);
        return;
    }
}

std::map<std::string, std::vector<StatesBefore::Place>> StatesBefore::places_by_name() const {
    std::map<std::string, std::vector<Place>> places;
    const auto& nodes = before_.description.nodes;
    if (before_.states.size() != nodes.size()) refuse_damage();
    for (std::size_t at = 0; at < nodes.size(); at += nodes[at].parallelism) {
        const SnapshotNode& node = nodes[at];
        if (node.parallelism == 0 || node.parallelism > nodes.size() - at ||
            node.types.size() != node.operators.size()) {
            refuse_damage();
        }
        for (std::size_t i = 1; i != node.parallelism; ++i) {
            if (nodes[at + i].operators != node.operators) refuse_damage();
        }
        for (std::size_t i = 0; i != node.operators.size(); ++i) {
            places[node.operators[i]].push_back({at, i});
        }
    }
    return places;
}

void StatesBefore::compare(const SnapshotNode& now, const Place& place, std::size_t index) {
    const SnapshotNode& before = before_.description.nodes[place.first_node];
    const std::string& name = now.operators[index];
    const std::string& type = now.types[index];
    const std::string& type_before = before.types[place.index];
    if (type != type_before) {
        difference_ = fmt::format("the state of operator '{}' was of the type {}, and is of {} now",
                                  name, type_before, type);
    } else if (now.parallelism != before.parallelism && has_state(type) &&
               !(is_by_key(now) && is_by_key(before))) {
        difference_ = fmt::format(
            "operator '{}' had {} replicas, and has {} now (--parallelism): its state is not by "
            "key",
            name, before.parallelism, now.parallelism);
    }
}

/// A part of the replica that there was, or with another number of them of all that had not ended.
operators::PartBefore StatesBefore::part(const Place& place, std::size_t part, std::size_t replica,
                                         std::size_t replicas) const {
    const auto& nodes = before_.description.nodes;
    const std::size_t replicas_before = nodes[place.first_node].parallelism;
    operators::PartBefore found{.is_share = replicas != replicas_before};
    for (std::size_t i = 0; i != replicas_before; ++i) {
        const std::size_t at = place.first_node + i;
        if (nodes[at].has_ended || (!found.is_share && i != replica)) continue;
        const auto parts =
            operators::SavedParts::of(before_.states[at], nodes[at].operators.size());
        found.readers.emplace_back(parts[part]);
    }
    return found;
}

/// A replica that was fused with a source has ended with it. Where it has other links now, it may
/// get records of those that have not.
bool StatesBefore::has_ended(const Section& now, std::size_t replica, bool has_source) const {
    const Place& first = now.places.front();
    const auto nodes = std::span(before_.description.nodes).subspan(first.first_node);
    const std::size_t replicas = nodes.front().parallelism;
    if (replicas == now.replicas && (has_source || now.has_same_links)) {
        return nodes[replica].has_ended;
    }
    return std::all_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(replicas),
                       [](const SnapshotNode& node) { return node.has_ended; });
}

std::optional<operators::PartsBefore> StatesBefore::parts_of(std::size_t section,
                                                             std::size_t replica,
                                                             bool has_source) const {
    const Section& now = sections_[section];
    if (has_ended(now, replica, has_source)) return std::nullopt;
    operators::PartsBefore found;
    for (const Place& place : now.places) {
        found.operators.push_back(part(place, place.index, replica, now.replicas));
    }
    // The watermarks of its input. Those of replicas that share no keys may differ.
    const Place& first = now.places.front();
    const SnapshotNode& node = before_.description.nodes[first.first_node];
    const bool is_same = node.parallelism == now.replicas;
    if (first.index == 0 && (is_same || (now.is_by_key && is_by_key(node)))) {
        found.input = part(first, node.operators.size(), replica, now.replicas);
        found.input.is_share = !now.has_same_links;
    }
    return found;
}

}  // namespace strid
