// SPDX-License-Identifier: Apache-2.0
//
// The checks of a graph and of the options of a run before anything is planned.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/plan/plan.hpp>

namespace strid::graph {

namespace {

void check_event_time(const Segments& segments) {
    // Whether every stream that reaches a segment has time. Segments stand behind their producers.
    std::vector<bool> has_time(segments.all.size());
    for (std::size_t s = 0; s < segments.all.size(); ++s)
        has_time[s] = !segments.all[s]->has_source();
    for (std::size_t s = 0; s < segments.all.size(); ++s) {
        bool time = has_time[s];
        for (const OperatorInfo& op : segments.all[s]->operators()) {
            if (op.needs_watermarks && !time) {
                throw GraphError(fmt::format(
                    "operator '{}' uses event time: it needs event_time() in every stream that "
                    "leads to it",
                    op.name));
            }
            time = (time && !op.ends_time) || op.draws_watermarks;
        }
        for (const std::size_t target : segments.all[s]->targets()) {
            if (target != no_segment) has_time[target] = has_time[target] && time;
        }
    }
}

void check_one_replica(const OperatorInfo& op, std::size_t replicas) {
    if (!op.one_replica || replicas <= 1) return;
    throw GraphError(
        fmt::format("operator '{}' has to see the whole stream and cannot have parallelism {}",
                    op.name, replicas));
}

void check_parallelism(const std::string& name, std::size_t replicas) {
    if (replicas <= parallelism_max) return;
    throw GraphError(fmt::format("operator '{}': parallelism {} is above the limit of {}", name,
                                 replicas, parallelism_max));
}

/// The names of the operators, each of which has one of its own.
std::set<std::string> check_operators(const Segments& segments, const RunOptions& options) {
    std::set<std::string> names;
    for (const auto& segment : segments.all) {
        for (const auto& op : segment->operators()) {
            if (!names.insert(op.name).second) {
                throw GraphError(fmt::format("two operators are named '{}'", op.name));
            }
            check_parallelism(op.name, op.parallelism);
            check_one_replica(op, op.parallelism);
            const auto named = options.operator_parallelism.find(op.name);
            if (named != options.operator_parallelism.end()) check_one_replica(op, named->second);
        }
    }
    return names;
}

[[noreturn]] void leads_nowhere(const std::string& what, const std::string& name) {
    throw GraphError(
        fmt::format("{} behind operator '{}' leads nowhere: give it a sink", what, name));
}

void check_ends(const Segments& segments, const std::set<std::string>& names) {
    for (const auto& segment : segments.all) {
        for (std::size_t branch = 0; branch < segment->targets().size(); ++branch) {
            if (segment->targets()[branch] != no_segment) continue;
            const bool splits = segment->routing() == Routing::split;
            leads_nowhere(splits ? fmt::format("branch {}", branch) : "the stream",
                          segment->operators().back().name);
        }
    }
    // A stream that was dropped before its segment was complete: the last operator of it.
    const auto& described = segments.described;
    const auto dropped =
        std::find_if(described.rbegin(), described.rend(),
                     [&names](const std::string& name) { return !names.contains(name); });
    if (dropped != described.rend()) leads_nowhere("the stream", *dropped);
}

}  // namespace

void check(const Segments& segments, const RunOptions& options) {
    if (segments.described.empty()) throw GraphError("the graph has no source");
    check_event_time(segments);
    const std::set<std::string> names = check_operators(segments, options);
    check_ends(segments, names);
    check_files(files_of(segments));
    for (const auto& [name, parallelism] : options.operator_parallelism) {
        if (!names.contains(name)) {
            throw GraphError(fmt::format(
                "parallelism is given for operator '{}', which the graph does not have", name));
        }
        if (parallelism == 0) {
            throw GraphError(fmt::format("operator '{}': parallelism must be at least 1", name));
        }
        check_parallelism(name, parallelism);
    }
    check_parallelism("all", options.parallelism);
}

}  // namespace strid::graph
