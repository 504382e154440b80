// SPDX-License-Identifier: Apache-2.0
//
// From a plan to tasks: which replicas share one, and in which order they are laid out on cores.
#include <algorithm>
#include <map>

#include <strid/engine/plan/plan.hpp>

namespace strid::graph {

std::unique_ptr<operators::Node> make_node(const Segments& segments, const Fragment& fragment,
                                           std::size_t replica) {
    const SegmentBase& segment = *segments.all[fragment.segment];
    if (fragment.distributes) {
        return segment.instantiate_distribution(replica, fragment.parallelism);
    }
    auto node = segment.instantiate(fragment.first, fragment.last, fragment.plain_output, replica,
                                    fragment.parallelism);
    for (std::size_t i = fragment.first; i < fragment.last; ++i) {
        if (segment.operators()[i].on_exception == OnException::skip) {
            node->skip(i - fragment.first);
        }
    }
    return node;
}

std::vector<PlannedTask> order_of_tasks(const Plan& plan, const std::vector<bool>& alone) {
    std::map<std::size_t, std::vector<std::size_t>> members;  // group -> fragments, in order
    std::vector<std::size_t> groups;                          // by their first fragment
    for (std::size_t f = 0; f < plan.fragments.size(); ++f) {
        const std::size_t group = alone[f] ? plan.fragments.size() + f : plan.groups[f];
        if (members[group].empty()) groups.push_back(group);
        members[group].push_back(f);
    }
    // Replicas of a stage are interleaved with those that they feed. Stages of the same parallelism
    // come as block::placement_order has them; of two that differ, the smaller is spread over the
    // larger, so that workers that take a part of the order each have a share of both.
    struct Place {
        double depth;
        PlannedTask task;
    };
    std::vector<Place> places;
    for (const std::size_t group : groups) {
        const auto& fragments = members[group];
        const std::size_t parallelism = plan.fragments[fragments.front()].parallelism;
        for (std::size_t r = 0; r < parallelism; ++r) {
            places.push_back(
                {static_cast<double>(r) / static_cast<double>(parallelism), {fragments, r}});
        }
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.depth < b.depth; });
    std::vector<PlannedTask> order;
    for (Place& place : places) order.push_back(std::move(place.task));
    return order;
}

std::string name_of(const Segments& segments, const Plan& plan, const PlannedTask& task) {
    std::string name;
    for (const std::size_t f : task.fragments) {
        const Fragment& fragment = plan.fragments[f];
        const auto& operators = segments.all[fragment.segment]->operators();
        if (!name.empty()) name += '+';
        name += fragment.distributes ? operators.back().name + "-distribution"
                                     : operators[fragment.first].name;
    }
    if (plan.fragments[task.fragments.front()].parallelism > 1) {
        name += '#' + std::to_string(task.replica);
    }
    return name;
}

}  // namespace strid::graph
