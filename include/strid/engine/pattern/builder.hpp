// SPDX-License-Identifier: Apache-2.0
//
// Builds patterns into a network, from the first node to the last: each takes the tasks that leave
// the nodes before it, and the next takes its results.
//
// Threads: the one that builds.
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

#include <strid/engine/pattern/composition_checks.hpp>
#include <strid/engine/pattern/emitter.hpp>
#include <strid/engine/pattern/limit_entry.hpp>
#include <strid/engine/pattern/loop_entry.hpp>
#include <strid/engine/pattern/network.hpp>
#include <strid/engine/pattern/node_type.hpp>
#include <strid/engine/pattern/operator_node.hpp>
#include <strid/engine/pattern/ordered.hpp>
#include <strid/engine/pattern/source_node.hpp>
#include <strid/pattern/any_pattern.hpp>
#include <strid/pattern/composition.hpp>

namespace strid::pattern {

namespace detail {

/// The last nodes of a loop that is being built: each learns its way back.
template <class Again>
using LoopTails = std::vector<std::function<void(LoopEntry<Again>&)>>;

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
    template <class T, class Pattern>
    auto add(const Ends<T>& ends, const Pattern& pattern, bool last) {
        if constexpr (std::same_as<T, RefusedTasks>) {
            return ends;
        } else {
            return place(ends, pattern, last);
        }
    }

    /// A node.
    template <class T, class F>
    auto place(const Ends<T>& ends, const F& function, bool last) {
        if constexpr (BuildsItself<F> && !std::same_as<T, Nothing>) {
            return function.build(network_, ends, name_);
        } else if constexpr (is_source<F> && !std::same_as<T, Nothing>) {
            static_assert(std::same_as<T, Nothing>,
                          "a source is the first node of a pattern, and tasks arrive here");
            return Ends<RefusedTasks>{};
        } else if constexpr (is_source<F>) {
            using U = typename F::Emitted;
            const auto [number, of] = network_.replica();
            auto& node = network_.add(std::make_unique<SourceNode<U, F>>(
                network_.name_node(name_or("source")), number, of, function));
            return Ends<U>{{{&node.output(), &node}}};
        } else if constexpr (std::same_as<T, Nothing>) {
            static_assert(!std::same_as<T, Nothing>,
                          "no task arrives here: a pattern that runs by itself begins with a "
                          "source, and a node that makes nothing is the last");
            return Ends<RefusedTasks>{};
        } else if constexpr (!is_node_for<F, T>()) {
            return Ends<RefusedTasks>{};
        } else {
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
            tails_.push_back([&node, &network = network_](LoopEntry<Again>& entry) {
                network.connect_back(node, entry);
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
    auto place(const Ends<T>& ends, const Pipeline<Patterns...>& pipeline, bool last) {
        const auto part = network_.open({.kind = Part::pipeline});
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
    auto place(const Ends<T>& ends, const Farm<Worker, Policy>& farm, bool last) {
        if constexpr (!takes_farm<T, Policy>()) {
            return Ends<RefusedTasks>{};
        } else {
            return add_farm(ends, farm, last);
        }
    }
    template <class T, class Worker, class Policy>
    auto add_farm(const Ends<T>& ends, const Farm<Worker, Policy>& farm, bool last) {
        if constexpr (!std::same_as<T, Nothing>) schedule(ends, farm.policy, farm.options);
        const std::size_t workers =
            farm.options.workers != 0 ? farm.options.workers : network_.workers();
        const auto part = network_.open(
            description_of(Part::farm, name_of_policy(farm.policy), farm.options, workers));
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
        const auto part = network_.open({.kind = Part::worker});
        if constexpr (hands_out<Worker> && !std::same_as<T, Nothing>) {
            // A farm of farms: each of them has one node that hands out its tasks.
            return add(add_operator(ends, EmitterNode<T>{}, false), farm.worker, last);
        } else {
            return add(ends, farm.worker, last);
        }
    }
    template <class T, class Worker, class Policy>
    auto place(const Ends<T>& ends, const OrderedFarm<Worker, Policy>& farm, bool /*last*/) {
        if constexpr (!takes_ordered_farm<T, Worker, Policy>()) {
            return Ends<RefusedTasks>{};
        } else {
            using Operator = decltype(make_operator<T>(farm.worker));
            using Worked = std::conditional_t<Operator::traits.emits == Emits::one, Operator,
                                              Marking<Operator>>;
            return add_ordered<typename Operator::Emitted, Worked>(one_end(ends), farm);
        }
    }
    /// The order is that of one node.
    template <class T>
    Ends<T> one_end(const Ends<T>& ends) {
        if (ends.nodes.size() == 1) return ends;
        return add_operator(ends, EmitterNode<T>{}, false);
    }
    template <class U, class Operator, class T, class Worker, class Policy>
    Ends<U> add_ordered(const Ends<T>& ends, const OrderedFarm<Worker, Policy>& farm) {
        using Item = typename Operator::Emitted;
        schedule(ends, farm.policy, farm.options);
        const std::size_t workers =
            farm.options.workers != 0 ? farm.options.workers : network_.workers();
        const Network::Replica outside = network_.replica();
        const auto part = network_.open(
            description_of(Part::ordered_farm, name_of_policy(farm.policy), farm.options, workers));
        std::vector<Ends<Item>> items;
        for (std::size_t i = 0; i < workers; ++i) {
            network_.set_replica({i, workers});
            const auto worker = network_.open({.kind = Part::worker});
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
    static void schedule(const Ends<T>& ends, const Policy& policy, const FarmOptions& options) {
        constexpr bool any_worker =
            !is_by_key<Policy> && requires { policy.template scheduler<T>(); };
        if (options.in_use) check_in_use(*options.in_use, any_worker, ends.nodes.size());
        for (const auto& end : ends.nodes) {
            if (options.in_use) end.output->use(*options.in_use);
            if constexpr (requires { policy.template scheduler<T>(); }) {
                end.output->schedule(policy.template scheduler<T>());
            } else {
                end.output->schedule(policy.template multicaster<T>());
            }
        }
    }

    template <class T, class Body>
    auto place(const Ends<T>& ends, const Iterate<Body>& loop, bool /*last*/) {
        if constexpr (!takes_loop<T, Body>()) {
            return Ends<RefusedTasks>{};
        } else {
            return add_loop(ends, loop);
        }
    }
    template <class T, class Body>
    auto add_loop(const Ends<T>& ends, const Iterate<Body>& loop) {
        const auto part = network_.open({.kind = Part::loop});
        auto& entry = network_.add(
            std::make_unique<LoopEntry<T>>(network_.name_node(name_or("loop")), network_.loops()));
        network_.connect(ends, entry.input(), entry);
        network_.loops().push_back(&entry.own());
        Builder<T> inside(network_);
        inside.set_name(name_);
        auto behind = inside.build(Ends<T>{{{&entry.output(), &entry}}}, loop.body, true);
        network_.loops().pop_back();
        for (auto& end_loop : inside.tails()) end_loop(entry);
        return behind;
    }

    template <class T, class Body, class BytesOf>
    auto place(const Ends<T>& ends, const Limited<Body, BytesOf>& limited, bool last) {
        if constexpr (!takes_limit<T, Body, BytesOf>()) {
            return Ends<RefusedTasks>{};
        } else {
            check_limit(limited.limit);
            const auto part =
                network_.open({.kind = Part::limited, .text = text_of(limited.limit)});
            auto& entry = network_.add(std::make_unique<LimitEntry<T, BytesOf>>(
                network_.name_node(name_or("limit")), network_.loops(), limited.limit,
                limited.bytes_of));
            network_.connect(ends, entry.input(), entry, 1);
            return add_exit(add(Ends<Tagged<T, FlightTag>>{{{&entry.output(), &entry}}},
                                tag<FlightTag>(limited.body), false),
                            last);
        }
    }
    /// Behind what is limited: there the stays end.
    template <class U>
    auto add_exit(const Ends<Tagged<U, FlightTag>>& ends, bool last) {
        return add_operator(ends, EndOfFlight<U>{}, last);
    }
    auto add_exit(const Ends<Nothing>& ends, bool /*last*/) { return ends; }
    auto add_exit(const Ends<RefusedTasks>& ends, bool /*last*/) { return ends; }

    template <class T, class U>
    Ends<U> place(const Ends<T>& ends, const AnyPattern<T, U>& any, bool /*last*/) {
        return any.build(network_, ends);
    }

    template <class T, class Pattern>
    auto place(const Ends<T>& ends, const Named<Pattern>& one, bool last) {
        const auto part = network_.open({.kind = Part::named, .text = one.name});
        const std::string outside = std::exchange(name_, one.name);
        auto behind = add(ends, one.pattern, last);
        name_ = outside;
        return behind;
    }

    [[nodiscard]] std::string name_or(std::string_view kind) const {
        return name_.empty() ? std::string(kind) : name_;
    }

    using Part = PartDescription::Kind;

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

}  // namespace strid::pattern
