// SPDX-License-Identifier: Apache-2.0
//
// Compiler errors for a function that an operator cannot accept, or that would have no effect or
// crash: one message per fault, which states what is required. Compilers print the template's types
// beside it: `F` is the function, `T` the record that arrives.
//
// Each check is true if the function is right, and does not compile otherwise. Compile time only.
#pragma once

#include <concepts>
#include <type_traits>
#include <variant>

#include <strid/base/field.hpp>
#include <strid/base/hash.hpp>
#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/contract_names.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/engine/operator/key_texts.hpp>
#include <strid/engine/operator/parameters.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/event_time.hpp>

namespace strid::operators {

template <class F>
consteval bool can_be_copied() {
    static_assert(std::copy_constructible<F>,
                  "the function cannot be copied, and each replica has a copy of its own: hold "
                  "what cannot be copied by a std::shared_ptr");
    return std::copy_constructible<F>;
}

/// A function that its call cannot change cannot keep references to a record's data.
template <class F, bool changes>
consteval bool keeps_no_text() {
    constexpr bool right = !changes || !points_to_text<F>;
    static_assert(right,
                  "the function has members that point to text and may outlive the batch that the "
                  "text came with: let them own it (std::string), or make the call const");
    return right;
}

/// It names the state that its call changes, or is its own state.
template <class F, bool changes>
consteval bool has_known_state() {
    constexpr bool known =
        !changes || detail::HasState<F> || is_own_state<F> || traits_of_function<F>.stateless;
    static_assert(known,
                  "a function whose call changes it names its state, auto state() { return "
                  "std::tie(...); }, unless it consists of plain values; a lambda with other "
                  "captures becomes a class, or its call const");
    return known;
}

/// A function with traits has the hooks, members and state of the contract.
template <class F>
consteval bool has_what_its_traits_list() {
    using enum Has;
    if constexpr (!detail::has_its_hooks<F, Opened, Restored, Flush, Closed, CutOff,
                                         SnapshotBegins>()) {
        return false;
    } else if constexpr (!detail::has_its_members<F, blocks, accepts, files>()) {
        return false;
    } else {
        return true;
    }
}

/// The function keeps the contract (operator/contract.hpp). It is called with these arguments.
template <class F, class... Arguments>
consteval bool keeps_contract() {
    if constexpr (!std::is_class_v<F>) {
        return true;
    } else if constexpr (!detail::can_be_derived_from<F>()) {
        return false;
    } else if constexpr (detail::used_names<F>.state && !detail::HasState<F>) {
        return detail::names_its_state<F>();
    } else if constexpr (!detail::shares_rightly<F>()) {
        return false;
    } else if constexpr (HasFunctionTraits<F>) {
        if constexpr (!has_what_its_traits_list<F>()) return false;
    } else if constexpr (detail::used_names<F>.on) {
        static_assert(HasFunctionTraits<F>,
                      "a function with on(...) declares its hooks: static constexpr FunctionTraits "
                      "traits{.hears = events<...>} (strid/operator/contract.hpp)");
        return false;
    }
    constexpr bool changes = !Callable<const F, Arguments...>;
    return keeps_no_text<F, changes>() && has_known_state<F, changes>();
}

template <class F, class T>
consteval bool takes_map() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!MapFunction<F, T>) {
        static_assert(MapFunction<F, T>,
                      "map needs a function F of the records T that arrive: void f(T&) changes "
                      "them, U f(const T&) or U f(T&&) makes others; a const Context& may follow");
        return false;
    } else if constexpr (InPlaceMap<F, T> &&
                         (cannot_change<F, T>() || cannot_change<F, T, const Context&>())) {
        static_assert(!InPlaceMap<F, T>,
                      "map would do nothing: the function returns nothing and takes the record as "
                      "a copy or a constant. Take it as T&, or return the new record");
        return false;
    } else if constexpr (InPlaceMap<F, T>) {
        return keeps_contract<F, T&>();
    } else {
        return keeps_contract<F, T&&>();
    }
}

template <class F, class T>
consteval bool takes_filter() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!FilterFunction<F, T>) {
        static_assert(FilterFunction<F, T>,
                      "filter needs a function F of the records T that arrive: bool f(const T&), "
                      "true keeps the record; a const Context& may follow");
        return false;
    } else {
        return keeps_contract<F, const T&>();
    }
}

template <class F, class T, class U>
consteval bool takes_flat_map() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!FlatMapFunction<F, T, U>) {
        static_assert(FlatMapFunction<F, T, U>,
                      "flat_map<U> needs a function F of the records T that arrive: void f(const "
                      "T&, auto& emit), which calls emit(U); a const Context& may follow");
        return false;
    } else {
        using Probe = std::conditional_t<Callable<F, T&, NextProbe<U>&>, NextProbe<U>, Emitter<U>>;
        return keeps_contract<F, T&, Probe&>();
    }
}

template <class F, class T>
consteval bool takes_sink() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!SinkFunction<F, T>) {
        static_assert(SinkFunction<F, T>,
                      "sink needs a function F of the records T that arrive: void f(const T&) or "
                      "void f(T&&); a const Context& may follow");
        return false;
    } else {
        return keeps_contract<F, T&&>();
    }
}

template <class F, class T>
consteval bool takes_key() {
    if constexpr (std::is_member_pointer_v<F>) {
        refuse_member_pointer<F>();
        return false;
    } else if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!KeyFunction<F, T>) {
        static_assert(KeyFunction<F, T>,
                      "a key needs a member of the records T that arrive, or a function F of them: "
                      "K f(const T&)");
        return false;
    } else {
        using K = std::remove_cvref_t<std::invoke_result_t<F&, const T&>>;
        static_assert(Hashable<K>,
                      "the key must be hashable: a number, an enumeration, text, std::array, a "
                      "pair, tuple or aggregate of these, or a type with a std::hash; and have ==");
        static_assert(!points_to_text<K> || key_holds_text<K>,
                      "the key has text in it that its operator cannot copy: let it own its text, "
                      "or put std::string_view into a pair, a tuple or a plain aggregate");
        return Hashable<K>;
    }
}

template <class F, class T>
consteval bool takes_split() {
    static_assert(SplitFunction<F, T>,
                  "split needs a function F of the records T that arrive: the index of a branch, "
                  "std::size_t f(const T&), or a range of indices");
    return SplitFunction<F, T>;
}

template <class T>
inline constexpr bool is_variant = false;
template <class... Types>
inline constexpr bool is_variant<std::variant<Types...>> = true;

template <class T>
consteval bool takes_split_by_type() {
    static_assert(is_variant<T>,
                  "split_by_type needs a stream of std::variant, and gives one for each of its "
                  "types; by anything else: split(branches, f)");
    return is_variant<T>;
}

template <class F, class T>
consteval bool takes_time() {
    if constexpr (std::is_member_pointer_v<F>) {
        refuse_member_pointer<F>();
        return false;
    } else {
        static_assert(TimeFunction<F, T>,
                      "a time needs a member of the records T that arrive, or a const function F "
                      "of them: EventTime f(const T&)");
        return TimeFunction<F, T>;
    }
}

template <class Strategy, class T>
consteval bool takes_strategy() {
    static_assert(WatermarkStrategy<Strategy, T>,
                  "event_time needs a strategy of the records T that arrive: MonotonousTime, "
                  "BoundedDisorder and the like, or a copyable type with observe(const T&, "
                  "EventTime) and EventTime watermark() const");
    return WatermarkStrategy<Strategy, T>;
}

/// The operator that follows uses the time of the stream.
template <class Time, class T>
consteval bool knows_time() {
    static_assert(TimeFunction<Time, T>,
                  "it is not known when these records happened: give event_time before, or "
                  "timed_by<&Record::time>() where their type has changed since");
    return TimeFunction<Time, T>;
}

template <class F, class State, class T>
consteval bool takes_fold() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!FoldFunction<F, State, T>) {
        static_assert(FoldFunction<F, State, T>,
                      "accumulate needs a function F of the state and the records T that arrive: "
                      "void f(State&, const T&); a const Context& may follow");
        return false;
    } else if constexpr (cannot_change<F, State, const T&>()) {
        static_assert(!FoldFunction<F, State, T>,
                      "the fold would do nothing: the function takes the state as a copy or a "
                      "constant, and what it returns is not used. Take it as State&");
        return false;
    } else {
        check_state_owns_text<State>();
        return !points_to_text<State> && keeps_contract<F, State&, const T&>();
    }
}

template <class F, class T>
consteval bool takes_reduce() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!ReduceFunction<F, T>) {
        static_assert(ReduceFunction<F, T>,
                      "reduce needs a function F of two of the records T that arrive: T f(const T& "
                      "so_far, const T& record); a const Context& may follow");
        return false;
    } else {
        check_owns_text<T>();
        return !points_to_text<T> && keeps_contract<F, const T&, const T&>();
    }
}

}  // namespace strid::operators
