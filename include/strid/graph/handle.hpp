// SPDX-License-Identifier: Apache-2.0
//
// What the handles of streams are made of, and how the segment that one of them stands for joins
// the graph.
//
// Threads: a graph is built by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/graph/options.hpp>
#include <strid/graph/segment.hpp>
#include <strid/operator/agreed_time.hpp>
#include <strid/operator/stage.hpp>

namespace strid::graph {

/// A sink may have replicas without being asked for where its copies share nothing: it has no
/// state, or says so itself with `static constexpr bool parallel_by_default = true`.
template <class F>
inline constexpr bool parallel_sink = [] {
    if constexpr (requires { F::parallel_by_default; }) return bool{F::parallel_by_default};
    return std::is_empty_v<F>;
}();

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

/// What all handles are made of: the graph, the origins and the operators fused so far.
struct Handle {
    Segments* segments = nullptr;
    std::vector<Origin> origins = {};  // empty for a stream that starts with its source
    bool restores_order = false;
    std::vector<OperatorInfo> operators = {};
    std::size_t last = 0;  // the operator that the stream leaves, among all that were described
    operators::PromisedTimePointer promised_time = {};  ///< Where it is known.
    Consumed consumed = {};

    /// Throws GraphError, which says what stream it is, where the handle was moved from.
    void check_not_consumed() const;
    /// What comes from the other handle goes on in this one. Throws GraphError where it is of
    /// another graph.
    void join(const Handle& other);
    /// What is known of the same stream behind an edge, without its origins.
    [[nodiscard]] Handle behind_edge() const;
    /// What something that is no operator is called in an error: by the operator before it.
    [[nodiscard]] std::string behind(const char* what) const;
    /// An operator that may be the stream's next.
    [[nodiscard]] OperatorInfo describe(const OperatorOptions& options, const char* kind) const;
    /// The operator that was described last is the next.
    void add(OperatorInfo next);
};

/// The stage, which takes records of `T`, is the handle's next: what it relies on and what is known
/// of the times behind it (operator/agreed_time.hpp).
template <class T, class Stage>
void agree_on_time(Stage& stage, Handle& handle) {
    if constexpr (requires { stage.time_of().agree_with(handle.promised_time); }) {
        stage.time_of().agree_with(handle.promised_time);
    }
    if constexpr (requires { stage.draws_from(); }) {
        handle.promised_time = operators::promised_time<T>(stage.draws_from());
    } else if constexpr (!requires { Stage::passes_records; }) {
        handle.promised_time = nullptr;
    }
}

/// Ends the chain with a router: the segment is complete and joins the graph.
template <class Router, class Head, class... Steps>
std::size_t complete(Handle&& handle, Chain<Head, Steps...> chain, Router router, Routing routing,
                     std::size_t branches) {
    handle.check_not_consumed();
    Handle ended = std::move(handle);
    Segments& segments = *ended.segments;
    std::size_t index = 0;
    if constexpr (Head::operators + sizeof...(Steps) == 0) {
        // Nothing but routing: an operator that hands every record on.
        using T = typename Head::Arrived;
        ended.operators.push_back(ended.describe({}, "route"));
        using Routed = Segment<Router, Head, Step<operators::Identity, T>>;
        index = segments.add(std::make_unique<Routed>(
            Chain<Head, Step<operators::Identity, T>>{std::move(chain.head), {}}, std::move(router),
            std::move(ended.operators), routing, branches));
    } else {
        index = segments.add(std::make_unique<Segment<Router, Head, Steps...>>(
            std::move(chain), std::move(router), std::move(ended.operators), routing, branches));
    }
    for (const Origin& origin : ended.origins) {
        segments.all[origin.segment]->set_target(origin.branch, index);
    }
    if (ended.restores_order) segments.all[index]->restore_order();
    return index;
}

}  // namespace strid::graph
