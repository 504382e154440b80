// SPDX-License-Identifier: Apache-2.0
//
// The values that patterns are composed of (paper 4): pipelines, farms and loops of nodes
// (pattern/node_work.hpp). They can be nested without limit; engine/pattern/builder.hpp builds
// them.
//
// They have no threads, and are copied for each run and each replica.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <strid/base/heap_bytes.hpp>
#include <strid/engine/pattern/fused.hpp>
#include <strid/pattern/node_work.hpp>
#include <strid/pattern/scheduling.hpp>
#include <strid/pattern/workers_in_use.hpp>

namespace strid::pattern {

/// Patterns in sequence: the results of one are the tasks of the next.
template <class... Patterns>
class Pipeline {
  public:
    /// Copies of the parts are made into nodes when the pattern runs.
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

/// How a farm is built.
struct FarmOptions {
    /// Replicas of the worker; 0: as many as there are threads.
    std::size_t workers = 0;
    /// How many of them get tasks; none: all. Only for policies that choose among all workers for
    /// each task: not by key, and not those that copy tasks.
    std::optional<WorkersInUse> in_use = {};
};

/// Replicas of a pattern that share the tasks. The node before the farm distributes the tasks, by
/// its own scheduler; the node after it gathers the results. So a farm has no emitter or collector
/// of its own; add one as a node of the pipeline.
template <class Worker, class Policy>
struct Farm {
    Worker worker;        ///< A node or a pattern, copied for each replica.
    Policy policy;        ///< Which worker a task goes to (pattern/scheduling.hpp).
    FarmOptions options;  ///< How many workers, and how many of them are in use.
};

/// `farm(worker)`, `farm(worker, OnDemand{1}, {.workers = 4})`
template <class Worker, class Policy = Adaptive>
[[nodiscard]] Farm<Worker, Policy> farm(Worker worker, Policy policy = {},
                                        const FarmOptions& options = {}) {
    return {std::move(worker), std::move(policy), options};
}
/// The same with the adaptive policy.
template <class Worker>
[[nodiscard]] Farm<Worker, Adaptive> farm(Worker worker, const FarmOptions& options) {
    return {std::move(worker), {}, options};
}

/// A farm whose results leave in the order of their tasks, however many each task has. The worker
/// is one node, or several that are fused. Results of a worker's end leave after all others.
template <class Worker, class Policy>
struct OrderedFarm {
    Worker worker;        ///< A node, or several that are fused; any number of results of a task.
    Policy policy;        ///< Which worker a task goes to.
    FarmOptions options;  ///< As of a farm.
};
/// Workers side by side whose results leave in the order in which their tasks came.
template <class Worker, class Policy = Adaptive>
[[nodiscard]] OrderedFarm<Worker, Policy> ordered_farm(Worker worker, Policy policy = {},
                                                       const FarmOptions& options = {}) {
    return {std::move(worker), std::move(policy), options};
}
/// The same with the adaptive policy.
template <class Worker>
[[nodiscard]] OrderedFarm<Worker, Adaptive> ordered_farm(Worker worker,
                                                         const FarmOptions& options) {
    return {std::move(worker), {}, options};
}

/// A pattern whose last nodes may send tasks through it once more, by `emit.again(task)`. Tasks
/// that they emit leave the loop. It ends when its input has ended and no task is in it.
template <class Body>
struct Iterate {
    Body body;  ///< The pattern that is repeated.
};

/// Tasks on the way back wait in a queue without bound, so that no circle of full queues can wait
/// for itself (design note 0017).
template <class Body>
[[nodiscard]] Iterate<Body> iterate(Body body) {
    return {std::move(body)};
}

/// The action for a task when the limit is reached.
enum class WhenFull : unsigned char {
    wait,         ///< It waits, and so does what is before it.
    drop_newest,  ///< It is dropped, and so are later ones until there is room.
    drop_oldest   ///< The task that has waited longest is dropped.
};

/// A bound on the tasks in flight between the first and the last node of a pattern. Give at least
/// one of the two; a task larger than `bytes` is admitted alone.
struct Limit {
    std::size_t tasks = 0;                ///< Tasks that have begun and not left; 0: any number.
    std::size_t bytes = 0;                ///< Of these tasks together; 0: any number.
    WhenFull when_full = WhenFull::wait;  ///< The action for a task without room.
    /// The number of tasks that wait for room before one is dropped; with `wait` it is one.
    std::size_t waiting = 1;
};

/// Bytes of a task: its own, and those that it owns on the heap (base/heap_bytes.hpp).
struct BytesOfTask {
    /// O(1), or O(elements) for containers of what owns memory.
    template <class T>
    [[nodiscard]] std::size_t operator()(const T& task) const {
        return sizeof(T) + heap_bytes_of(task);
    }
};

/// A part of a pattern with a bound on what is in flight in it; made by `limited`.
template <class Body, class BytesOf>
struct Limited {
    Body body;         ///< The bounded part.
    Limit limit;       ///< The bound.
    BytesOf bytes_of;  ///< How many bytes a task counts for.
};

/// `limited(farm(f), {.tasks = 8})`, `limited(filter, {.tasks = 2, .when_full =
/// WhenFull::drop_oldest})`. A task is in flight until all that was made of it has left `body`.
/// Tasks that are dropped are counted ("dropped", in the report of the node "limit").
/// `bytes_of(task)` returns the size of a task.
template <class Body, class BytesOf = BytesOfTask>
[[nodiscard]] Limited<Body, BytesOf> limited(Body body, const Limit& limit, BytesOf bytes_of = {}) {
    return {std::move(body), limit, std::move(bytes_of)};
}

/// A pattern whose nodes have this name in errors and reports.
template <class Pattern>
struct Named {
    std::string name;  ///< Of its nodes.
    Pattern pattern;   ///< The named pattern.
};
/// `pattern` with nodes that have this name in errors and reports.
template <class Pattern>
[[nodiscard]] Named<Pattern> named(std::string name, Pattern pattern) {
    return {std::move(name), std::move(pattern)};
}

}  // namespace strid::pattern
