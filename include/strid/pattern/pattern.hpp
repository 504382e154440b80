// SPDX-License-Identifier: Apache-2.0
//
// The programmer's patterns (paper 4): nodes, pipelines, farms and loops as values that compose
// without limit, and run().
//
//     auto squares = pipeline(source(numbers), farm(square), print);
//     run(squares);
//
// A pattern says how work is divided; what the work is stands in functions of one task, or in
// operators (pattern/node.hpp). A pattern is copied for each run and each replica.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/pattern/fused.hpp>
#include <strid/pattern/loop_entry.hpp>
#include <strid/pattern/network.hpp>
#include <strid/pattern/node.hpp>
#include <strid/pattern/operator_node.hpp>
#include <strid/pattern/ordered.hpp>
#include <strid/pattern/scheduling.hpp>
#include <strid/pattern/source_node.hpp>

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

namespace detail {

template <class Pattern>
inline constexpr bool hands_out = false;  // begins with a farm, so that several take its tasks
template <class Worker, class Policy>
inline constexpr bool hands_out<Farm<Worker, Policy>> = true;
template <class Worker, class Policy>
inline constexpr bool hands_out<OrderedFarm<Worker, Policy>> = true;
template <class First, class... Rest>
inline constexpr bool hands_out<Pipeline<First, Rest...>> = hands_out<First>;
template <class Pattern>
inline constexpr bool hands_out<Named<Pattern>> = hands_out<Pattern>;

template <class Pattern>
inline constexpr bool is_node = true;  // a function or an operator
template <class... Patterns>
inline constexpr bool is_node<Pipeline<Patterns...>> = false;
template <class Worker, class Policy>
inline constexpr bool is_node<Farm<Worker, Policy>> = false;
template <class Worker, class Policy>
inline constexpr bool is_node<OrderedFarm<Worker, Policy>> = false;
template <class Body>
inline constexpr bool is_node<Iterate<Body>> = false;
template <class Pattern>
inline constexpr bool is_node<Named<Pattern>> = false;

template <class Pattern>
inline constexpr bool ends_loop = false;  // what leaves it leaves a loop
template <class Body>
inline constexpr bool ends_loop<Iterate<Body>> = true;
template <class... Patterns>
inline constexpr bool ends_loop<Pipeline<Patterns...>> =
    ends_loop<std::tuple_element_t<sizeof...(Patterns) - 1, std::tuple<Patterns...>>>;
template <class Worker, class Policy>
inline constexpr bool ends_loop<Farm<Worker, Policy>> = ends_loop<Worker>;
template <class Pattern>
inline constexpr bool ends_loop<Named<Pattern>> = ends_loop<Pattern>;

template <class Pattern>
inline constexpr bool ends_in_order = false;  // what leaves it an ordered farm has gathered
template <class Worker, class Policy>
inline constexpr bool ends_in_order<OrderedFarm<Worker, Policy>> = true;
template <class... Patterns>
inline constexpr bool ends_in_order<Pipeline<Patterns...>> =
    ends_in_order<std::tuple_element_t<sizeof...(Patterns) - 1, std::tuple<Patterns...>>>;
template <class Worker, class Policy>
inline constexpr bool ends_in_order<Farm<Worker, Policy>> = ends_in_order<Worker>;
template <class Pattern>
inline constexpr bool ends_in_order<Named<Pattern>> = ends_in_order<Pattern>;

/// The last nodes of a loop that is being built: each learns its way back.
template <class Again>
using LoopTails = std::vector<std::function<void(BackLane<Again>&, runtime::Task&)>>;

/// Builds patterns into a network. `Again` is what the entry of the innermost loop takes.
template <class Again>
class Builder {
  public:
    explicit Builder(Network& network) : network_(network) {}

    template <class T, class Pattern>
    auto build(const Ends<T>& ends, const Pattern& pattern, bool last) {
        return add(ends, pattern, last);
    }
    [[nodiscard]] LoopTails<Again>& tails() noexcept { return tails_; }
    void set_name(const std::string& name) { name_ = name; }

  private:
    /// A node.
    template <class T, class F>
    auto add(const Ends<T>& ends, const F& function, bool last) {
        if constexpr (is_source<F>) {
            static_assert(std::same_as<T, Nothing>,
                          "a source is the first node of a pattern: tasks arrive here");
            using U = typename F::Emitted;
            const auto [number, of] = network_.replica();
            auto& node = network_.add(std::make_unique<SourceNode<U, F>>(
                network_.name_node(name_or("source")), number, of, function));
            return Ends<U>{{{&node.output(), &node}}};
        } else {
            static_assert(!std::same_as<T, Nothing>,
                          "nothing arrives here: a pattern that runs by itself begins with a "
                          "source");
            return add_operator(ends, make_operator<T>(function), last);
        }
    }
    template <class T, class Operator>
    auto add_operator(const Ends<T>& ends, Operator one, bool last) {
        using ThisNode = OperatorNode<T, Operator, Again>;
        const auto [number, of] = network_.replica();
        auto& node = network_.add(
            std::make_unique<ThisNode>(network_.name_node(name_or(Operator::traits.kind)), number,
                                       of, network_.loops(), std::move(one)));
        network_.connect(ends, node.input(), node);
        if (last) {
            tails_.push_back([&node](BackLane<Again>& lane, runtime::Task& entry) {
                node.end_loop(lane, entry);
            });
        }
        using U = typename ThisNode::Made;
        if constexpr (std::same_as<U, Nothing>) {
            return Ends<Nothing>{};
        } else {
            return Ends<U>{{{&node.output(), &node}}};
        }
    }

    template <class T, class... Patterns>
    auto add(const Ends<T>& ends, const Pipeline<Patterns...>& pipeline, bool last) {
        return add_from<0>(ends, pipeline.patterns(), last);
    }
    template <std::size_t I, class T, class... Patterns>
    auto add_from(const Ends<T>& ends, const std::tuple<Patterns...>& patterns, bool last) {
        constexpr bool is_last = I + 1 == sizeof...(Patterns);
        auto behind = add(ends, std::get<I>(patterns), last && is_last);
        if constexpr (is_last) {
            return behind;
        } else {
            return add_from<I + 1>(behind, patterns, last);
        }
    }

    template <class T, class Worker, class Policy>
    auto add(const Ends<T>& ends, const Farm<Worker, Policy>& farm, bool last) {
        static_assert(std::same_as<T, Nothing> || PolicyFor<Policy, T>,
                      "a farm wants a policy for tasks T: Adaptive, RoundRobin, OnDemand, "
                      "LeastLoaded, Weighted, ByKey, Chosen, or Broadcast and Multicast of tasks "
                      "that can be copied");
        if constexpr (!std::same_as<T, Nothing>) schedule(ends, farm.policy);
        const std::size_t workers =
            farm.options.workers != 0 ? farm.options.workers : network_.workers();
        const Network::Replica outside = network_.replica();
        auto gathered = add_worker(ends, farm, {0, workers}, last);
        for (std::size_t i = 1; i < workers; ++i) {
            auto more = add_worker(ends, farm, {i, workers}, last);
            if constexpr (requires { more.nodes; }) {
                gathered.nodes.insert(gathered.nodes.end(), more.nodes.begin(), more.nodes.end());
            }
        }
        network_.set_replica(outside);
        return gathered;
    }
    template <class T, class Worker, class Policy>
    auto add_worker(const Ends<T>& ends, const Farm<Worker, Policy>& farm, Network::Replica replica,
                    bool last) {
        network_.set_replica(replica);
        if constexpr (hands_out<Worker> && !std::same_as<T, Nothing>) {
            // A farm of farms: each of them has one node that hands out its tasks.
            const auto pass_on = [](T task) { return task; };
            return add(add_operator(ends, Step<T, decltype(pass_on)>{pass_on}, false), farm.worker,
                       last);
        } else {
            return add(ends, farm.worker, last);
        }
    }
    template <class T, class Worker, class Policy>
    auto add(const Ends<T>& ends, const OrderedFarm<Worker, Policy>& farm, bool /*last*/) {
        static_assert(!std::same_as<T, Nothing>, "tasks arrive at an ordered farm");
        static_assert(
            requires(const Policy& policy) { policy.template scheduler<T>(); },
            "a task of an ordered farm goes to one worker: neither Broadcast nor "
            "Multicast");
        static_assert(is_node<Worker>,
                      "the worker of an ordered farm is one node: several are fused(f, g)");
        using Operator = decltype(make_operator<T>(farm.worker));
        static_assert(Operator::traits.emits != Emits::nothing,
                      "the worker of an ordered farm makes the results that are put in order");
        if constexpr (Operator::traits.emits == Emits::one) {
            return add_ordered<typename Operator::Emitted, Operator>(one_end(ends), farm);
        } else {
            return add_ordered<typename Operator::Emitted, Marking<Operator>>(one_end(ends), farm);
        }
    }
    /// The order is that of one node.
    template <class T>
    Ends<T> one_end(const Ends<T>& ends) {
        if (ends.nodes.size() == 1) return ends;
        const auto pass_on = [](T task) { return task; };
        return add_operator(ends, Step<T, decltype(pass_on)>{pass_on}, false);
    }
    template <class U, class Operator, class T, class Worker, class Policy>
    Ends<U> add_ordered(const Ends<T>& ends, const OrderedFarm<Worker, Policy>& farm) {
        using Item = typename Operator::Emitted;
        schedule(ends, farm.policy);
        const std::size_t workers =
            farm.options.workers != 0 ? farm.options.workers : network_.workers();
        const Network::Replica outside = network_.replica();
        std::vector<Ends<Item>> items;
        for (std::size_t i = 0; i < workers; ++i) {
            network_.set_replica({i, workers});
            items.push_back(add_operator(ends, Operator{make_operator<T>(farm.worker)}, false));
        }
        network_.set_replica(outside);
        auto& collector = network_.add(std::make_unique<OrderedCollector<U, Item>>(
            network_.name_node("in order"), network_.loops()));
        for (const Ends<Item>& worker : items) {
            network_.connect(worker, collector.add_worker(), collector);
        }
        network_.keep_order(ends, collector.order(), collector);
        return Ends<U>{{{&collector.output(), &collector}}};
    }

    template <class T, class Policy>
    static void schedule(const Ends<T>& ends, const Policy& policy) {
        for (const auto& end : ends.nodes) {
            if constexpr (requires { policy.template scheduler<T>(); }) {
                end.output->schedule(policy.template scheduler<T>());
            } else {
                end.output->schedule(policy.template multicaster<T>());
            }
        }
    }

    template <class T, class Body>
    auto add(const Ends<T>& ends, const Iterate<Body>& loop, bool last) {
        static_assert(!std::same_as<T, Nothing>,
                      "tasks arrive at a loop: a source stands before it");
        static_assert(!ends_in_order<Body>,
                      "the last node of a loop says which tasks go through it again: a node stands "
                      "behind an ordered farm");
        static_assert(!ends_loop<Body>,
                      "the last node of a loop says which tasks go through it again: it is not "
                      "the last of another loop too");
        (void)last;
        auto& entry = network_.add(
            std::make_unique<LoopEntry<T>>(network_.name_node("loop"), network_.loops()));
        network_.connect(ends, entry.input(), entry);
        network_.loops().push_back(&entry.own());
        Builder<T> inside(network_);
        inside.set_name(name_);
        auto behind = inside.build(Ends<T>{{{&entry.output(), &entry}}}, loop.body, true);
        network_.loops().pop_back();
        for (auto& end_loop : inside.tails()) end_loop(entry.add_back_lane(), entry);
        return behind;
    }

    template <class T, class Pattern>
    auto add(const Ends<T>& ends, const Named<Pattern>& one, bool last) {
        const std::string outside = std::exchange(name_, one.name);
        auto behind = add(ends, one.pattern, last);
        name_ = outside;
        return behind;
    }

    [[nodiscard]] std::string name_or(std::string_view kind) const {
        return name_.empty() ? std::string(kind) : name_;
    }

    Network& network_;
    std::string name_;
    LoopTails<Again> tails_;
};

/// Builds a pattern behind what there is.
template <class T, class Pattern>
auto build(Network& network, const Ends<T>& ends, const Pattern& pattern) {
    return Builder<Nothing>(network).build(ends, pattern, false);
}

}  // namespace detail

/// Runs a pattern that begins with a source and ends with a node that makes nothing, to its end.
/// Throws OperatorError, which names the node and carries what its function threw. Returns what the
/// nodes have done.
template <class Pattern>
std::vector<NodeReport> run(const Pattern& pattern, const Options& options = {}) {
    Network network(options);
    using Behind = decltype(detail::build(network, Ends<Nothing>{}, pattern));
    static_assert(std::same_as<Behind, Ends<Nothing>>,
                  "the last node of a pattern that runs by itself takes tasks and makes none: "
                  "void f(T)");
    (void)detail::build(network, Ends<Nothing>{}, pattern);
    network.start();
    network.wait();
    return network.report();
}

}  // namespace strid::pattern
