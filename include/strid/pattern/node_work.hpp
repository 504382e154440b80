// SPDX-License-Identifier: Apache-2.0
//
// The work of a node for a task (paper 4, section 1.2.1.1: start, step and end). It is an operator
// (operator/contract.hpp), or one of these functions:
//
//     U f(T)                       one task out for each
//     std::optional<U> f(T)        one, or none: go on with the next
//     void f(T)                    the last of a pattern
//     std::optional<U> f()         the first: none ends the stream
//     node<U>(f), void f(T, emit)  any number: emit(u)
//     source<U>(f), bool f(emit)   the first, any number at once: false ends the stream
//
// An operator has `process(T&, auto& emit)`. It may have on(const Opened&), called at the start,
// and on(Ended, auto& emit), called at the end of its input. Each replica of a node is a copy, and
// a function may have state. Of the traits only `emits` is used: patterns have no event time.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/operator/contract_checks.hpp>
#include <strid/operator/contract.hpp>
#include <strid/pattern/task_type.hpp>

namespace strid::pattern {

namespace detail {

template <class U>
inline constexpr bool is_optional = false;
template <class U>
inline constexpr bool is_optional<std::optional<U>> = true;

/// A function of one task.
template <class T, class F>
class Step
    : public OperatorTypes<T,
                           std::conditional_t<std::is_void_v<std::invoke_result_t<F&, T>>, void,
                                              std::remove_cvref_t<std::invoke_result_t<F&, T>>>> {
  public:
    static constexpr bool consumes = std::is_void_v<std::invoke_result_t<F&, T>>;
    static constexpr OperatorTraits traits{
        .kind = "node", .emits = consumes ? Emits::nothing : Emits::one, .hears = events<>};

    explicit Step(F function) : function_(std::move(function)) {}

    [[gnu::always_inline]] void process(T& task, [[maybe_unused]] auto& emit) {
        if constexpr (consumes) {
            std::invoke(function_, std::move(task));
        } else {
            emit(std::invoke(function_, std::move(task)));
        }
    }

    auto state() { return std::tie(function_); }

  private:
    [[no_unique_address]] F function_;
};

/// A function that makes a task or none.
template <class T, class F>
class MaybeStep
    : public OperatorTypes<T,
                           typename std::remove_cvref_t<std::invoke_result_t<F&, T>>::value_type> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "node", .emits = Emits::at_most_one, .hears = events<>};

    explicit MaybeStep(F function) : function_(std::move(function)) {}

    [[gnu::always_inline]] void process(T& task, auto& emit) {
        if (auto made = std::invoke(function_, std::move(task))) emit(std::move(*made));
    }

    auto state() { return std::tie(function_); }

  private:
    [[no_unique_address]] F function_;
};

/// A function of a task and of where what it makes goes.
template <class T, class U, class F>
class EmittingStep : public OperatorTypes<T, U> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "node", .emits = Emits::any_number, .hears = events<>};

    explicit EmittingStep(F function) : function_(std::move(function)) {}

    [[gnu::always_inline]] void process(T& task, auto& emit) {
        std::invoke(function_, std::move(task), emit);
    }

    auto state() { return std::tie(function_); }

  private:
    [[no_unique_address]] F function_;
};

/// The first node: `bool generate(emit)`, false at the end.
template <class U, class F>
class SourceWork {
  public:
    using Emitted = U;

    explicit SourceWork(F function) : function_(std::move(function)) {}

    [[gnu::always_inline]] bool generate(auto& emit) {
        if constexpr (std::invocable<F&>) {
            auto made = std::invoke(function_);
            if (!made) return false;
            emit(std::move(*made));
            return true;
        } else {
            return std::invoke(function_, emit);
        }
    }

  private:
    [[no_unique_address]] F function_;
};

/// A function with a given type of result.
template <class U, class F>
struct EmittingNode {
    F function;
};

template <class F>
concept Generates =
    std::invocable<F&> && is_optional<std::remove_cvref_t<std::invoke_result_t<F&>>>;

template <class F>
inline constexpr bool is_source = false;
template <class U, class F>
inline constexpr bool is_source<SourceWork<U, F>> = true;
template <class F>
inline constexpr bool is_emitting_node = false;
template <class U, class F>
inline constexpr bool is_emitting_node<EmittingNode<U, F>> = true;

template <class F>
inline constexpr bool is_fused = false;
template <class T, std::size_t I, class... Nodes>
[[nodiscard]] auto fuse(std::tuple<Nodes...>& nodes);

/// A node around another (engine/pattern/tagged.hpp, pattern/resource.hpp): `Inner function`, which
/// is for tasks of `TaskOf<T>` where tasks of `T` arrive, and `wrap(operator)` around the operator
/// of it.
template <class F>
inline constexpr bool is_wrapped = false;

/// It can be made an operator for tasks of `T`. Does not compile otherwise.
template <class F, class T>
consteval bool is_node_for() {
    if constexpr (is_fused<F> || is_emitting_node<F>) {
        return true;
    } else if constexpr (is_wrapped<F>) {
        return is_node_for<typename F::Inner, typename F::template TaskOf<T>>();
    } else if constexpr (operators::HasTraits<F>) {
        return operators::is_operator_for<F, T>();
    } else {
        static_assert(std::invocable<F&, T>,
                      "a node needs an operator, or a function of the tasks T that arrive: U f(T), "
                      "std::optional<U> f(T), void f(T), or node<U>(f) of void f(T, emit)");
        return std::invocable<F&, T>;
    }
}

/// The operator that a node runs for tasks of `T`.
template <class T, class F>
[[nodiscard]] auto make_operator(F node) {
    if constexpr (is_fused<F>) {
        return fuse<T, 0>(node.nodes);
    } else if constexpr (is_wrapped<F>) {
        using Inside = typename F::template TaskOf<T>;
        return node.wrap(make_operator<Inside>(std::move(node.function)));
    } else if constexpr (operators::HasTraits<F>) {
        return node;
    } else if constexpr (is_emitting_node<F>) {
        return [&node]<class U, class G>(std::type_identity<EmittingNode<U, G>>) {
            return EmittingStep<T, U, G>{std::move(node.function)};
        }(std::type_identity<F>{});
    } else if constexpr (is_optional<std::remove_cvref_t<std::invoke_result_t<F&, T>>>) {
        return MaybeStep<T, F>{std::move(node)};
    } else {
        return Step<T, F>{std::move(node)};
    }
}

}  // namespace detail

/// A node that makes any number of tasks of type `U` for one: `void f(T, auto& emit)`.
template <TaskType U, class F>
[[nodiscard]] auto node(F function) {
    return detail::EmittingNode<U, F>{std::move(function)};
}

/// The first node of a pattern: `bool f(auto& emit)` emits any number of tasks and returns whether
/// it is to be called again.
template <TaskType U, class F>
[[nodiscard]] auto source(F function) {
    return detail::SourceWork<U, F>{std::move(function)};
}
/// `std::optional<U> f()`: the next task, or none at the end.
template <detail::Generates F>
[[nodiscard]] auto source(F function) {
    using U = typename std::remove_cvref_t<std::invoke_result_t<F&>>::value_type;
    return detail::SourceWork<U, F>{std::move(function)};
}

}  // namespace strid::pattern
