// SPDX-License-Identifier: Apache-2.0
//
// A resource that a limited number of nodes, in any patterns, may use at once: a device, a
// connection, memory for some frames.
//
//     Resource device(2);
//     auto one = accelerate<Frame>(farm(using_resource(device, encode)));
//     auto other = accelerate<Frame>(pipeline(using_resource(device, decode), check));
//
// A node that finds none free waits without a thread, so other nodes are stepped. It has the
// resource for a step: one task, or several short ones (20 us). So no node waits for anything while
// it has one, and patterns that share several resources cannot wait for each other.
//
// Threads: any. A Resource is a handle; copies are the same resource.
//
// Invariant: nodes get it in the order in which they asked. A resource that is given back goes to
// the first node that waits, under the mutex, so that none is passed over.
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <strid/engine/operator/declared.hpp>
#include <strid/operator/contract.hpp>
#include <strid/pattern/node_work.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

/// Something that a bounded number of nodes may use at once. Copies share it. Any thread.
class Resource {
  public:
    /// `at_once` is the number of nodes that may use it at once, at least one. Throws GraphError.
    explicit Resource(std::size_t at_once);

    /// The number that is free now.
    [[nodiscard]] std::size_t free() const;

    // ---- for a node; it asks and gives back by turns --------------------------------------------

    /// False: the node is notified when one has been kept for it; it asks again in the next step.
    [[nodiscard]] bool try_take(runtime::Task& node) { return state_->try_take(node); }
    /// By the node that has one: the next that waits gets it.
    void give_back() noexcept { state_->give_back(); }
    /// The node does not wait any more, and gives back what was kept for it. At its end.
    void forget(const runtime::Task& node) noexcept { state_->forget(node); }

  private:
    class State {
      public:
        explicit State(std::size_t free) : free_(free) {}

        [[nodiscard]] std::size_t free() const;
        [[nodiscard]] bool try_take(runtime::Task& node);
        void give_back() noexcept;
        void forget(const runtime::Task& node) noexcept;

      private:
        struct Waiting {
            runtime::Task* node;
            bool granted;  // it has been notified: one is kept for it
        };
        void hand_on() noexcept;
        [[nodiscard]] std::deque<Waiting>::iterator find(const runtime::Task& node) noexcept;

        mutable std::mutex mutex_;
        std::size_t free_;             // guarded, as is the next
        std::deque<Waiting> waiting_;  // in the order in which they asked
    };

    std::shared_ptr<State> state_;
};

namespace detail {

/// An operator whose node has the resource while it is stepped.
template <class Operator>
class UsingOperator : public Operator {
  public:
    static constexpr OperatorTraits traits = [] {
        OperatorTraits result = Operator::traits;
        result.has = result.has | Has::resource;
        return result;
    }();

    UsingOperator(Operator one, Resource resource)
        : Operator(std::move(one)), resource_(std::move(resource)) {}

    [[nodiscard]] Resource& resource() noexcept { return resource_; }

  private:
    Resource resource_;
};

template <class F>
struct UsingNode {
    using Inner = F;
    template <class T>
    using TaskOf = T;

    F function;
    Resource resource;

    template <class Operator>
    [[nodiscard]] auto wrap(Operator one) const {
        static_assert(!operators::has<Operator, Has::resource>,
                      "a node uses one resource: two could wait for each other");
        return UsingOperator<Operator>(std::move(one), resource);
    }
};
template <class F>
inline constexpr bool is_wrapped<UsingNode<F>> = true;

template <class Operator>
concept UsesResource = operators::has<Operator, Has::resource>;

}  // namespace detail

/// The same node, stepped only while it has the resource.
template <class F>
[[nodiscard]] auto using_resource(const Resource& resource, F node) {
    return detail::UsingNode<F>{std::move(node), resource};
}

}  // namespace strid::pattern
