// SPDX-License-Identifier: Apache-2.0
//
// The start of a run that takes snapshots: whether its nodes can, and from which one it goes on.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/state/cold_store.hpp>

#include "snapshot_events.hpp"
#include "snapshots.hpp"

namespace strid {

void Snapshots::check_part() const {
    if (options_.every <= std::chrono::nanoseconds::zero()) {
        throw GraphError("the time from one snapshot to the next must be positive");
    }
    std::vector<std::string> faults;
    for (const operators::Node* const node : nodes_) {
        for (const std::string& fault : node->no_snapshot()) {
            if (std::find(faults.begin(), faults.end(), fault) == faults.end()) {
                faults.push_back(fault);
            }
        }
    }
    if (faults.empty()) return;
    throw GraphError(fmt::format("this graph can take no snapshots: {}", fmt::join(faults, "; ")));
}

/// Why no run can go on from its checkpoints. Those of operators that are not in the graph, or keep
/// their keys in another way now, are not looked at.
std::string Snapshots::fault_of(const SnapshotDescription& found) const {
    for (const SnapshotCheckpoint& one : found.checkpoints) {
        for (const SnapshotSection& section : sections_) {
            const auto* const stores = section.nodes.front()->cold_stores(one.operator_name);
            if (stores == nullptr) continue;
            const std::string fault = stores->fault_of(one, found.number);
            if (!fault.empty()) return fmt::format("operator '{}': {}", one.operator_name, fault);
        }
    }
    return {};
}

/// The newest snapshot of an earlier run, and the results that it goes on with.
void Snapshots::find_before() {
    std::optional<Snapshot> found;
    if (options_.restart) {
        scope_.begin_anew();
    } else {
        found = store_->newest([this](const std::string& text) { warn(text); },
                               [this](const auto& described) { return fault_of(described); });
    }
    if (!found) {
        warn_of_names();
        return scope_.go_on_with({}, {.last = number_});
    }
    const std::string where =
        options_.folder.empty() ? "the snapshots " : "the snapshots in " + options_.folder + " ";
    if (found->description.is_finished) {
        throw GraphError(where +
                         "are of a run that has reached its end: --restart begins anew, "
                         "and so does another folder");
    }
    if (found->description.graph != graph_) {
        throw GraphError(fmt::format("{}are of the graph '{}', and this one is '{}'", where,
                                     found->description.graph, graph_));
    }
    auto results = std::move(found->description.results);
    const std::uint64_t behind = found->description.number;
    const auto nodes = description().nodes;
    std::vector<SectionNow> now;
    std::size_t at = 0;
    for (const SnapshotSection& section : sections_) {
        const operators::Node* const first = section.nodes.front();
        now.push_back({nodes[at],
                       [first](const auto& stored) { return first->types_of_state(stored); },
                       first->polls(), section.are_named, first->merge_state(), section.producers});
        at += section.nodes.size();
    }
    before_.emplace(std::move(*found), now, options_.allow_lost);
    if (!before_->difference().empty()) {
        throw GraphError(where + "are of another graph: " + before_->difference());
    }
    for (const std::string& change : before_->changes()) warn(change);
    scope_.go_on_with(std::move(results), {.behind = behind, .last = number_});
    log_restored(graph_, behind);
}

void Snapshots::warn_of_names() const {
    std::vector<std::string> unnamed;
    for (const SnapshotSection& section : sections_) {
        const operators::Node& node = *section.nodes.front();
        const auto types = node.types_of_state({});
        for (std::size_t i = 0; i != types.size(); ++i) {
            if (section.are_named[i] || !has_state(types[i])) continue;
            unnamed.push_back(node.operator_names()[i]);
        }
    }
    if (unnamed.empty()) return;
    warn(
        fmt::format("operators have state and no names of their own, so that a changed program "
                    "could not find their states: '{}'",
                    fmt::join(unnamed, "', '")));
}

/// A result file of the snapshot is given up where nothing writes it any more.
void Snapshots::check_results() const {
    for (const std::string& name : scope_.left_over()) {
        const std::string what = fmt::format("'{}' is not written any more", name);
        if (!options_.allow_lost) {
            throw GraphError(
                fmt::format("a snapshot{}{} has rows of a result that the graph does not have: {}; "
                            "--allow-lost leaves its unfinished file as it is",
                            options_.folder.empty() ? "" : " in ", options_.folder, what));
        }
        warn("the result " + what);
    }
}

void Snapshots::restore() {
    if (!before_) return;
    check_results();
    for (std::size_t i = 0; i != sections_.size(); ++i) {
        try {
            restore_section(i);
        } catch (const StateError& error) {
            throw StateError(fmt::format(
                "a snapshot{}{}: operator '{}': {}", options_.folder.empty() ? "" : " in ",
                options_.folder, fmt::join(sections_[i].nodes.front()->operator_names(), "' and '"),
                error.what()));
        }
    }
    before_.reset();
}

void Snapshots::restore_section(std::size_t section) {
    const auto& nodes = sections_[section].nodes;
    for (std::size_t replica = 0; replica != nodes.size(); ++replica) {
        auto parts = before_->parts_of(section, replica);
        if (parts) {
            nodes[replica]->restore(*parts);
        } else {
            nodes[replica]->restore_as_ended();
        }
    }
}

}  // namespace strid
