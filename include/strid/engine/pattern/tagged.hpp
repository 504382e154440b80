// SPDX-License-Identifier: Apache-2.0
//
// Tasks with a tag that accompanies them through a pattern: the promise of a result
// (pattern/calls.hpp), a place among those that may be in flight (pattern/limited.hpp). The nodes
// of the pattern see only the tasks: tag<Tag>(pattern) is the same pattern with each node wrapped.
// An AnyPattern has fixed the types of its tasks, and cannot be (composition_checks.hpp).
//
// A Tag is a value that can be moved without failing, with
//
//     static constexpr bool takes_failures;   guarded() returns where the action throws
//     void guarded(action);                   calls the user's function for the task
//     Tag share();                            for one more task that is made of this one
//     void finish();                          the task was consumed
//
// Threads: those of the nodes.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/heap_bytes.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/pattern/composition.hpp>
#include <strid/pattern/node_work.hpp>

namespace strid::pattern::detail {

template <class T, class Tag>
struct Tagged {
    T value{};
    Tag tag{};

    Tagged() = default;
    Tagged(T task, Tag its_tag) : value(std::move(task)), tag(std::move(its_tag)) {}
    template <class Other>
        requires(!std::same_as<T, Other> && std::constructible_from<T, Other>)
    explicit Tagged(Tagged<Other, Tag>&& other)
        : value(std::move(other.value)), tag(std::move(other.tag)) {}

    [[nodiscard]] friend std::size_t heap_bytes(const Tagged& task) {
        return heap_bytes_of(task.value);
    }
};

/// An operator of tasks as one of tagged tasks.
template <class Tag, class Operator>
class TaggedOperator
    : public OperatorTypes<
          Tagged<typename Operator::Arrived, Tag>,
          std::conditional_t<std::is_void_v<typename Operator::Emitted>, void,
                             Tagged<std::conditional_t<std::is_void_v<typename Operator::Emitted>,
                                                       int, typename Operator::Emitted>,
                                    Tag>>> {
  public:
    static constexpr bool consumes = std::is_void_v<typename Operator::Emitted>;
    static constexpr OperatorTraits traits{
        .kind = Operator::traits.kind,
        .emits = Tag::takes_failures && Operator::traits.emits == Emits::one
                     ? Emits::at_most_one
                     : Operator::traits.emits,
        .hears = Operator::traits.hears.template among<Opened, Ended, Closed>(),
        .has = has_if(operators::has<Operator, Has::resource>, Has::resource)};

    explicit TaggedOperator(Operator one) : operator_(std::move(one)) {}

    void on(const Opened& opened)
        requires operators::Hears<Operator, Opened>
    {
        operator_.on(opened);
    }
    void process(Tagged<typename Operator::Arrived, Tag>& task, auto& emit) {
        Tag tag = std::move(task.tag);
        tag.guarded([&] {
            Emission emission{emit, tag};
            operator_.process(task.value, emission);
            if constexpr (consumes) tag.finish();
        });
    }
    /// Tasks that are emitted at the end belong to no task.
    auto on(Ended ended, auto& emit)
        requires operators::Hears<Operator, Ended>
    {
        Tag none{};
        Emission emission{emit, none};
        return operator_.on(ended, emission);
    }
    void on(Closed closed)
        requires operators::Hears<Operator, Closed>
    {
        operator_.on(closed);
    }
    [[nodiscard]] auto& resource()
        requires operators::has<Operator, Has::resource>
    {
        return operator_.resource();
    }
    auto state() { return operators::state_of(operator_); }

  private:
    template <class Emit>
    struct Emission {
        Emit& emit;
        Tag& tag;

        template <class Made>
        void operator()(Made&& made) {
            using U = typename Operator::Emitted;
            emit(Tagged<U, Tag>(U(take(std::forward<Made>(made))), tag.share()));
        }
        template <class Made>
        void again(Made&& made) {
            using V = std::remove_cvref_t<Made>;
            emit.again(Tagged<V, Tag>(V(take(std::forward<Made>(made))), tag.share()));
        }
        [[nodiscard]] bool room() const noexcept { return emit.room(); }

      private:
        /// One that is not constant is moved from.
        template <class Made>
        static decltype(auto) take(Made&& made) {
            if constexpr (std::same_as<Made, std::remove_cvref_t<Made>&>) {
                return std::move(made);
            } else {
                return std::forward<Made>(made);
            }
        }
    };
    template <class Emit>
    Emission(Emit&, Tag&) -> Emission<Emit>;

    [[no_unique_address]] Operator operator_;
};

template <class T>
struct Untagged;
template <class T, class Tag>
struct Untagged<Tagged<T, Tag>> {
    using type = T;
};

/// A node of tasks as one of tagged tasks.
template <class Tag, class F>
struct TaggedNode {
    using Inner = F;
    template <class T>
    using TaskOf = typename Untagged<T>::type;

    F function;

    template <class Operator>
    [[nodiscard]] auto wrap(Operator one) const {
        return TaggedOperator<Tag, Operator>(std::move(one));
    }
};
template <class Tag, class F>
inline constexpr bool is_wrapped<TaggedNode<Tag, F>> = true;

/// A function of a task, for tagged tasks.
template <class F>
struct OfValue {
    F function;

    template <class Task, class... Rest>
        requires std::invocable<const F&, decltype((std::declval<const Task&>().value)), Rest...>
    decltype(auto) operator()(const Task& task, Rest&&... rest) const {
        return std::invoke(function, task.value, std::forward<Rest>(rest)...);
    }
    template <class Task, class... Rest>
        requires std::invocable<F&, decltype((std::declval<const Task&>().value)), Rest...>
    decltype(auto) operator()(const Task& task, Rest&&... rest) {
        return std::invoke(function, task.value, std::forward<Rest>(rest)...);
    }
};

template <class Policy>
[[nodiscard]] Policy policy_of_value(Policy policy) {
    return policy;
}
template <class F>
[[nodiscard]] auto policy_of_value(Weighted<F> policy) {
    return Weighted<OfValue<F>>{{std::move(policy.weight_of)}};
}
template <class F>
[[nodiscard]] auto policy_of_value(ByKey<F> policy) {
    return ByKey<OfValue<F>>{{std::move(policy.key_of)}};
}
template <class F>
[[nodiscard]] auto policy_of_value(Chosen<F> policy) {
    return Chosen<OfValue<F>>{{std::move(policy.choose)}};
}
template <class F>
[[nodiscard]] auto policy_of_value(Multicast<F> policy) {
    return Multicast<OfValue<F>>{{std::move(policy.choose)}};
}

template <class Tag, class F>
[[nodiscard]] TaggedNode<Tag, F> tag(F node) {
    return {std::move(node)};
}
template <class Tag, class... Patterns>
[[nodiscard]] auto tag(Pipeline<Patterns...> pipeline);
template <class Tag, class Worker, class Policy>
[[nodiscard]] auto tag(Farm<Worker, Policy> farm);
template <class Tag, class Worker, class Policy>
[[nodiscard]] auto tag(OrderedFarm<Worker, Policy> farm);
template <class Tag, class Body>
[[nodiscard]] auto tag(Iterate<Body> loop);
template <class Tag, class Pattern>
[[nodiscard]] auto tag(Named<Pattern> named);
template <class Tag, class Body, class BytesOf>
[[nodiscard]] auto tag(Limited<Body, BytesOf> limited);

template <class Tag, class... Patterns>
[[nodiscard]] auto tag(Pipeline<Patterns...> pipeline) {
    return std::apply(
        [](const auto&... patterns) { return pattern::pipeline(tag<Tag>(patterns)...); },
        pipeline.patterns());
}
template <class Tag, class Worker, class Policy>
[[nodiscard]] auto tag(Farm<Worker, Policy> farm) {
    return pattern::farm(tag<Tag>(std::move(farm.worker)), policy_of_value(std::move(farm.policy)),
                         farm.options);
}
template <class Tag, class Worker, class Policy>
[[nodiscard]] auto tag(OrderedFarm<Worker, Policy> farm) {
    return pattern::ordered_farm(tag<Tag>(std::move(farm.worker)),
                                 policy_of_value(std::move(farm.policy)), farm.options);
}
template <class Tag, class Body>
[[nodiscard]] auto tag(Iterate<Body> loop) {
    return pattern::iterate(tag<Tag>(std::move(loop.body)));
}
template <class Tag, class Pattern>
[[nodiscard]] auto tag(Named<Pattern> one) {
    return pattern::named(std::move(one.name), tag<Tag>(std::move(one.pattern)));
}
template <class Tag, class Body, class BytesOf>
[[nodiscard]] auto tag(Limited<Body, BytesOf> limited) {
    auto body = tag<Tag>(std::move(limited.body));
    return Limited<decltype(body), OfValue<BytesOf>>{
        std::move(body), limited.limit, {std::move(limited.bytes_of)}};
}
}  // namespace strid::pattern::detail
