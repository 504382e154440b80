// SPDX-License-Identifier: Apache-2.0
//
// The common part of the handles of streams, and how the segment of a handle joins the graph.
//
// Threads: a graph is built by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/engine/plan/segment.hpp>
#include <strid/stream/options.hpp>

namespace strid::graph {

/// Throws GraphError where the operator is to skip records and cannot.
void check_stops(const OperatorInfo& info);

/// True in what was moved from.
struct Consumed {
    Consumed() = default;
    Consumed(Consumed&& other) noexcept : yes(std::exchange(other.yes, true)) {}
    Consumed& operator=(Consumed&& other) noexcept {
        yes = std::exchange(other.yes, true);
        return *this;
    }

    bool yes = false;
};

/// The common part of all handles: the graph, the origins and the operators fused so far.
struct Handle {
    Segments* segments = nullptr;
    std::vector<Origin> origins = {};  // empty for a stream that starts with its source
    bool restores_order = false;
    std::vector<OperatorInfo> operators = {};
    std::size_t last = 0;  // the operator that the stream leaves, among all that were described
    operators::AssignedTimePointer assigned_time = {};  ///< Where it is known.
    Consumed consumed = {};

    /// Throws GraphError, which names the stream, if the handle was moved from.
    void check_not_consumed() const;
    /// Merges the other handle into this one. Throws GraphError if it belongs to another graph.
    void join(const Handle& other);
    /// The same stream behind an edge, without its origins.
    [[nodiscard]] Handle behind_edge() const;
    /// The name in an error for a step that is no operator: that of the operator before it.
    [[nodiscard]] std::string behind(const char* what) const;
    /// An operator that may be the stream's next.
    [[nodiscard]] OperatorInfo describe(const OperatorOptions& options,
                                        std::string_view kind) const;
    /// The operator that was described last is the next.
    void add(OperatorInfo next);
};

/// The properties of an operator for the planner: its traits and its facts.
template <class Operator>
void declare(OperatorInfo& info, const Operator& one) {
    constexpr OperatorTraits traits = Operator::traits;
    if (traits.emits == Emits::nothing) info.kind = "sink";  // whatever it is named by
    info.draws_watermarks =
        operators::Hears<Operator, Clock> || operators::Hears<Operator, SourceProgress>;
    info.needs_watermarks = traits.needs_watermarks;
    info.one_replica = traits.one_replica;
    if constexpr (operators::has<Operator, Has::facts>) {
        info.take(one.facts());
    }
    if (info.one_replica && info.parallelism == 0) info.parallelism = 1;
    if constexpr (!traits.may_skip) check_stops(info);
}

/// The operator is the handle's next: what it relies on and what is known of the times behind it
/// (engine/operator/agreed_time.hpp).
template <class Operator>
void agree_on_time(Operator& one, Handle& handle) {
    if constexpr (operators::has<Operator, Has::time_of>) {
        if constexpr (requires { one.time_of().agree_with(handle.assigned_time); }) {
            one.time_of().agree_with(handle.assigned_time);
        }
    }
    if constexpr (operators::has<Operator, Has::draws_from>) {
        handle.assigned_time =
            operators::assigned_time<typename Operator::Arrived>(one.draws_from());
    } else if constexpr (!Operator::traits.passes_records) {
        handle.assigned_time = nullptr;
    }
}

/// Ends the chain with a router: the segment is complete and joins the graph.
template <class Router, class Head, class... Operators>
std::size_t complete(Handle&& handle, Chain<Head, Operators...> chain, Router router,
                     Routing routing, std::size_t branches) {
    handle.check_not_consumed();
    Handle ended = std::move(handle);
    Segments& segments = *ended.segments;
    std::size_t index = 0;
    if constexpr (Head::operators + sizeof...(Operators) == 0) {
        // Nothing but routing: an operator that hands every record on.
        using Identity = operators::Identity<typename Head::Arrived>;
        ended.operators.push_back(ended.describe({}, Identity::traits.kind));
        index = segments.add(std::unique_ptr<SegmentBase>(new Segment<Router, Head, Identity>(
            Chain<Head, Identity>{std::move(chain.head),
                                  std::move(chain.operators).followed_by(Identity{})},
            std::move(router), std::move(ended.operators), routing, branches)));
    } else {
        index = segments.add(std::unique_ptr<SegmentBase>(new Segment<Router, Head, Operators...>(
            std::move(chain), std::move(router), std::move(ended.operators), routing, branches)));
    }
    for (const Origin& origin : ended.origins) {
        segments.all[origin.segment]->set_target(origin.branch, index);
    }
    if (ended.restores_order) segments.all[index]->restore_order();
    return index;
}

}  // namespace strid::graph
