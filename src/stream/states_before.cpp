// SPDX-License-Identifier: Apache-2.0
#include "states_before.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strid {

namespace {

/// Each key is in one replica: all records are dealt out by it, or there is one.
bool is_by_key(const SnapshotNode& node) {
    return node.is_by_key || node.parallelism == 1;
}

[[noreturn]] void refuse_damage() {
    throw StateError("the snapshot is damaged: its nodes are not complete");
}

}  // namespace

bool has_state(const std::string& type) noexcept {
    return !type.empty() && type != "std::tuple<>";
}

StatesBefore::StatesBefore(Snapshot before, const std::vector<SectionNow>& now, bool allow_lost)
    : before_(std::move(before)) {
    auto left = places_by_name();
    const auto& nodes = before_.description.nodes;
    std::size_t at = 0;
    bool has_same_links = true;
    for (const SectionNow& one : now) {
        const SnapshotNode& node = one.node;
        has_same_links = has_same_links && at < nodes.size() &&
                         nodes[at].operators == node.operators &&
                         nodes[at].parallelism == node.parallelism;
        at += node.parallelism;
        Section section{node.parallelism, one.has_source, is_by_key(node), has_same_links, {},
                        one.producers};
        std::vector<std::string> stored;
        for (std::size_t i = 0; i != node.operators.size(); ++i) {
            section.places.push_back(place_of(node, i, left));
            const auto& place = section.places.back();
            stored.push_back(place ? type_at(*place) : "");
        }
        const auto types = one.types_as_stored(stored);
        for (std::size_t i = 0; i != types.size() && difference_.empty(); ++i) {
            if (section.places[i]) compare(one, types[i], *section.places[i], i);
        }
        if (!difference_.empty()) return;
        sections_.push_back(std::move(section));
    }
    give_up(left, allow_lost);
    if (difference_.empty() && !changes_.empty()) forget_unnamed(now);
}

std::map<std::string, StatesBefore::Place> StatesBefore::places_by_name() const {
    std::map<std::string, Place> places;
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
            if (!places.try_emplace(node.operators[i], Place{at, i}).second) refuse_damage();
        }
    }
    return places;
}

const std::string& StatesBefore::type_at(const Place& place) const {
    return before_.description.nodes[place.first_node].types[place.index];
}

std::uint64_t StatesBefore::bytes_at(const Place& place) const {
    const auto& nodes = before_.description.nodes;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i != nodes[place.first_node].parallelism; ++i) {
        const auto& sizes = nodes[place.first_node + i].operator_bytes;
        if (place.index < sizes.size()) bytes += sizes[place.index];
    }
    return bytes;
}

std::optional<StatesBefore::Place> StatesBefore::place_of(const SnapshotNode& now,
                                                          std::size_t index,
                                                          std::map<std::string, Place>& left) {
    const auto found = left.find(now.operators[index]);
    if (found == left.end()) {
        changes_.push_back(fmt::format("operator '{}' is new", now.operators[index]));
        return std::nullopt;
    }
    const Place place = found->second;
    left.erase(found);
    if (!has_state(type_at(place)) && has_state(now.types[index])) return std::nullopt;
    return place;
}

/// Operators that were there and are not any more.
void StatesBefore::give_up(const std::map<std::string, Place>& left, bool allow_lost) {
    for (const auto& [name, place] : left) {
        std::string change = fmt::format("operator '{}' is not there any more", name);
        if (has_state(type_at(place))) {
            if (!allow_lost) {
                difference_ =
                    fmt::format("{}, and its state has {} bytes: --allow-lost gives it up", change,
                                bytes_at(place));
                return;
            }
            change += fmt::format(", and the {} bytes of its state are given up", bytes_at(place));
        }
        changes_.push_back(std::move(change));
    }
}

/// The graph has changed: a name by kind and place may be that of another operator now.
void StatesBefore::forget_unnamed(const std::vector<SectionNow>& now) {
    for (std::size_t i = 0; i != now.size(); ++i) {
        const SnapshotNode& node = now[i].node;
        for (std::size_t index = 0; index != node.operators.size(); ++index) {
            auto& place = sections_[i].places[index];
            if (now[i].are_named[index] || !place) continue;
            place.reset();
            if (!has_state(node.types[index])) continue;
            difference_ = fmt::format(
                "{}; then an operator with state needs a name of its own (.name) to find it by, "
                "and '{}' has none",
                changes_.front(), node.operators[index]);
            return;
        }
    }
}

void StatesBefore::compare(const SectionNow& section, const std::string& type, const Place& place,
                           std::size_t index) {
    const SnapshotNode& now = section.node;
    const SnapshotNode& before = before_.description.nodes[place.first_node];
    const std::string& name = now.operators[index];
    const std::string& type_before = type_at(place);
    if (type != type_before) {
        difference_ = fmt::format("the state of operator '{}' was of the type {}, and is of {} now",
                                  name, type_before, now.types[index]);
    } else if (now.parallelism != before.parallelism && has_state(type) &&
               !(is_by_key(now) && is_by_key(before)) && !section.merge[index]) {
        difference_ = fmt::format(
            "operator '{}' had {} replicas, and has {} now (--parallelism): its state is not by "
            "key, and it has no merge_state() and split_state()",
            name, before.parallelism, now.parallelism);
    }
}

/// A part of the replica that there was, or with another number of them of all that had not ended.
operators::PartBefore StatesBefore::part(const Place& place, std::size_t part, std::size_t replica,
                                         std::size_t replicas) {
    const auto& nodes = before_.description.nodes;
    const std::size_t replicas_before = nodes[place.first_node].parallelism;
    operators::PartBefore found{.is_share = replicas != replicas_before};
    if (part != nodes[place.first_node].operators.size()) found.type = type_at(place);
    for (std::size_t i = 0; i != replicas_before; ++i) {
        const std::size_t at = place.first_node + i;
        if (nodes[at].has_ended || (!found.is_share && i != replica)) continue;
        if (nodes[at].operator_bytes.size() != nodes[at].operators.size()) refuse_damage();
        const auto parts = operators::parts_of_state(before_.states[at], nodes[at].operator_bytes);
        found.readers.emplace_back(parts[part]);
    }
    return found;
}

/// Whether it had when the states were saved; with another number of replicas, whether all had.
bool StatesBefore::had_ended(const Section& now, std::size_t replica) const {
    const auto first = now.has_source
                           ? now.places.begin()
                           : std::find_if(now.places.begin(), now.places.end(),
                                          [](const auto& place) { return place.has_value(); });
    if (first == now.places.end() || !first->has_value()) return false;
    const auto nodes = std::span(before_.description.nodes).subspan((*first)->first_node);
    const std::size_t replicas = nodes.front().parallelism;
    if (replicas == now.replicas) return nodes[replica].has_ended;
    return std::all_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(replicas),
                       [](const SnapshotNode& node) { return node.has_ended; });
}

/// A replica that is fed by one which has not ended may get records, whatever fed it before.
bool StatesBefore::has_ended(std::size_t section, std::size_t replica) const {
    const Section& now = sections_[section];
    if (!had_ended(now, replica)) return false;
    return std::all_of(now.producers.begin(), now.producers.end(), [&](const Producer& producer) {
        if (producer.is_direct) return has_ended(producer.section, replica);
        for (std::size_t i = 0; i != sections_[producer.section].replicas; ++i) {
            if (!has_ended(producer.section, i)) return false;
        }
        return true;
    });
}

std::optional<operators::PartsBefore> StatesBefore::parts_of(std::size_t section,
                                                             std::size_t replica) {
    const Section& now = sections_[section];
    if (has_ended(section, replica)) return std::nullopt;
    operators::PartsBefore found;
    for (const auto& place : now.places) {
        found.operators.push_back(place ? part(*place, place->index, replica, now.replicas)
                                        : operators::PartBefore{});
    }
    // The watermarks of its input. Those of replicas that share no keys may differ.
    if (const auto& first = now.places.front(); first && first->index == 0) {
        const SnapshotNode& node = before_.description.nodes[first->first_node];
        if (node.parallelism == now.replicas || (now.is_by_key && is_by_key(node))) {
            found.input = part(*first, node.operators.size(), replica, now.replicas);
            found.input.is_share = !now.has_same_links;
        }
    }
    return found;
}

}  // namespace strid
