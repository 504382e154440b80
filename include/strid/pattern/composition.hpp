// SPDX-License-Identifier: Apache-2.0
//
// The values that patterns are put together by (paper 4): pipelines, farms and loops of nodes
// (pattern/node.hpp). They compose without limit; what they say is built by pattern/builder.hpp.
//
// Values without threads of their own, copied for each run and each replica.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <strid/pattern/fused.hpp>
#include <strid/pattern/node.hpp>
#include <strid/pattern/scheduling.hpp>

namespace strid::pattern {

/// One pattern after the other: what leaves the one arrives at the next.
template <class... Patterns>
class Pipeline {
  public:
    explicit Pipeline(Patterns... patterns) : patterns_(std::move(patterns)...) {}

    /// Calls `visit(pattern)` for each, first to last.
    [[nodiscard]] const std::tuple<Patterns...>& patterns() const noexcept { return patterns_; }

  private:
    std::tuple<Patterns...> patterns_;
};

/// `pipeline(a, b, c)`
template <class... Patterns>
    requires(sizeof...(Patterns) > 0)
[[nodiscard]] Pipeline<Patterns...> pipeline(Patterns... patterns) {
    return Pipeline<Patterns...>{std::move(patterns)...};
}

struct FarmOptions {
    /// Replicas of the worker; 0: as many as there are threads.
    std::size_t workers = 0;
};

/// Replicas of a pattern that share the tasks. What hands the tasks out is the node before, by a
/// scheduler of its own; what gathers the results is the node behind. So an emitter or a collector
/// is a node of the pipeline that the farm stands in, and a farm without them has none.
template <class Worker, class Policy>
struct Farm {
    Worker worker;
    Policy policy;
    FarmOptions options;
};

/// `farm(worker)`, `farm(worker, OnDemand{1}, {.workers = 4})`
template <class Worker, class Policy = Adaptive>
[[nodiscard]] Farm<Worker, Policy> farm(Worker worker, Policy policy = {},
                                        const FarmOptions& options = {}) {
    return {std::move(worker), std::move(policy), options};
}
template <class Worker>
[[nodiscard]] Farm<Worker, Adaptive> farm(Worker worker, const FarmOptions& options) {
    return {std::move(worker), {}, options};
}

/// A farm whose results leave in the order of their tasks. The worker is one node, or several that
/// are fused.
template <class Worker, class Policy>
struct OrderedFarm {
    Worker worker;
    Policy policy;
    FarmOptions options;
};
template <class Worker, class Policy = Adaptive>
[[nodiscard]] OrderedFarm<Worker, Policy> ordered_farm(Worker worker, Policy policy = {},
                                                       const FarmOptions& options = {}) {
    return {std::move(worker), std::move(policy), options};
}
template <class Worker>
[[nodiscard]] OrderedFarm<Worker, Adaptive> ordered_farm(Worker worker,
                                                         const FarmOptions& options) {
    return {std::move(worker), {}, options};
}

/// A pattern whose last nodes may send tasks through it once more, by `emit.again(task)`. What they
/// emit leaves the loop. It ends when its input has ended and no task is in it.
template <class Body>
struct Iterate {
    Body body;
};

/// Tasks on the way back wait in a queue without bound, so that no circle of full queues can wait
/// for itself (design note 0017).
template <class Body>
[[nodiscard]] Iterate<Body> iterate(Body body) {
    return {std::move(body)};
}

/// A pattern whose nodes have this name in errors and reports.
template <class Pattern>
struct Named {
    std::string name;
    Pattern pattern;
};
template <class Pattern>
[[nodiscard]] Named<Pattern> named(std::string name, Pattern pattern) {
    return {std::move(name), std::move(pattern)};
}

}  // namespace strid::pattern
