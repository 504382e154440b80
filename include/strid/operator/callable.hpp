// SPDX-License-Identifier: Apache-2.0
//
// The callables that operators accept: functions, lambdas and functors, with or without a trailing
// `const Context&`. The compiler names these concepts when it gets anything else.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/operator/context.hpp>

namespace strid {

/// The emitter of a flat_map, for callables that name the type of their second argument. A generic
/// lambda (`auto& emit`) gets the fused chain itself and is inlined.
template <class U>
class Emitter {
  public:
    /// Stands for `next` while the call lasts.
    template <class Next>
    explicit Emitter(Next& next) noexcept
        : next_(&next),
          call_([](void* target, U& record) { (*static_cast<Next*>(target))(std::move(record)); }) {
    }

    /// Hands `record` to the next operator. One indirect call.
    void operator()(U record) const { call_(next_, record); }
    /// Records of another type cannot be emitted.
    template <class Other>
        requires(!std::convertible_to<Other, U>)
    void operator()(Other&&) const {
        static_assert(std::convertible_to<Other, U>,
                      "the function emits records of another type than U, which flat_map<U> and "
                      "process<U> name");
    }

  private:
    void* next_;
    void (*call_)(void*, U&);
};

namespace operators {

/// Calls `f` with the arguments, and with the context if it takes one.
template <class F, class... Arguments>
decltype(auto) call(F& f, const Context& context, Arguments&&... arguments) {
    if constexpr (std::invocable<F&, Arguments..., const Context&>) {
        return std::invoke(f, std::forward<Arguments>(arguments)..., context);
    } else {
        (void)context;
        return std::invoke(f, std::forward<Arguments>(arguments)...);
    }
}

template <class F, class... Arguments>
concept Callable =
    std::invocable<F&, Arguments...> || std::invocable<F&, Arguments..., const Context&>;

template <class F, class... Arguments>
using CallResult = decltype(call(std::declval<F&>(), std::declval<const Context&>(),
                                 std::declval<Arguments>()...));

/// Stands for the rest of the chain when a concept checks a generic callable.
template <class U>
struct NextProbe {
    void operator()(U) const {}
    template <class Other>
        requires(!std::convertible_to<Other, U>)
    void operator()(Other&&) const {
        static_assert(std::convertible_to<Other, U>,
                      "the function emits records of another type than U, which flat_map<U> "
                      "names");
    }
};

}  // namespace operators

/// Changes a record in place: `void f(T&)`.
template <class F, class T>
concept InPlaceMap = std::copy_constructible<F> && operators::Callable<F, T&> &&
                     std::is_void_v<operators::CallResult<F, T&>>;

/// Makes one record from one record: `U f(const T&)` or `U f(T&&)`.
template <class F, class T>
concept TransformingMap = std::copy_constructible<F> && operators::Callable<F, T&&> &&
                          !std::is_void_v<operators::CallResult<F, T&&>>;

/// Callables for `map`: either of the two.
template <class F, class T>
concept MapFunction = InPlaceMap<F, T> || TransformingMap<F, T>;

/// Callables for `filter`: `bool f(const T&)`; true keeps the record.
template <class F, class T>
concept FilterFunction = std::copy_constructible<F> && operators::Callable<F, const T&> &&
                         std::convertible_to<operators::CallResult<F, const T&>, bool>;

/// Callables for `flat_map<U>`: `void f(const T&, auto& emit)` or `void f(const T&, Emitter<U>&)`,
/// which call `emit(U)` any number of times.
template <class F, class T, class U>
concept FlatMapFunction =
    std::copy_constructible<F> && (operators::Callable<F, T&, operators::NextProbe<U>&> ||
                                   operators::Callable<F, T&, Emitter<U>&>);

/// Callables for `sink`: `void f(const T&)`, with the hooks of FunctionTraits.
template <class F, class T>
concept SinkFunction = std::copy_constructible<F> && operators::Callable<F, T&&>;

/// Callables for `key_by`: a member or a function from a record to a hashable key.
template <class F, class T>
concept KeyFunction = std::copy_constructible<F> && std::invocable<F&, const T&> &&
                      !std::is_void_v<std::invoke_result_t<F&, const T&>>;

namespace operators {

template <class Index>
concept BranchIndex = std::integral<Index> || std::is_enum_v<Index>;

template <class Choice>
concept BranchChoice = BranchIndex<Choice> || requires(std::remove_cvref_t<Choice>& several) {
    std::end(several);
    requires BranchIndex<std::iter_value_t<decltype(std::begin(several))>>;
};

}  // namespace operators

/// Callables for `split`: from a record to the index of its branch, or to a range of indices.
template <class F, class T>
concept SplitFunction =
    std::copy_constructible<F> && std::invocable<F&, const T&> &&
    operators::BranchChoice<std::remove_cvref_t<std::invoke_result_t<F&, const T&>>>;

/// Callables for `accumulate`: `void f(State&, const T&)`.
template <class F, class State, class T>
concept FoldFunction = std::copy_constructible<F> && operators::Callable<F, State&, const T&>;

/// Callables for `reduce`: `T f(const T& so_far, const T& record)`.
template <class F, class T>
concept ReduceFunction = std::copy_constructible<F> && operators::Callable<F, const T&, const T&> &&
                         std::convertible_to<operators::CallResult<F, const T&, const T&>, T>;

}  // namespace strid
