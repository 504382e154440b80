// SPDX-License-Identifier: Apache-2.0
//
// The declarations of a class in its traits (operator/contract.hpp), as the engine asks for them.
//
// Threads: types, and a call on the thread of the function.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <strid/operator/contract.hpp>

namespace strid::operators {

/// Stands for the emitter of a chain when a concept checks a hook.
struct EmitterProbe {
    template <class Record>
    void operator()(Record&& record) const;
    [[nodiscard]] bool room() const;
    void assert_progress(const Progress& progress) const;
    template <std::size_t side = 0, class Record>
    void late(const Record& record, std::uint64_t count = 1) const;
    void failed() const;
};

/// The class, which keeps the contract, has the hook for the event.
template <class Class, class Event>
concept Hears = Class::traits.hears.template has<Event>();
/// The class, which keeps the contract, has the member.
template <class Class, Has member>
inline constexpr bool has = (Class::traits.has & member) != Has::none;

/// A function that declares what it has for the engine.
template <class F>
concept HasFunctionTraits = requires {
    { F::traits } -> std::same_as<const FunctionTraits&>;
};
/// The traits of a function: of one without them, no hooks.
template <class F>
inline constexpr FunctionTraits traits_of_function = [] {
    if constexpr (HasFunctionTraits<F>) {
        return F::traits;
    } else {
        return FunctionTraits{.hears = events<>};
    }
}();
/// The function has the hook for the event.
template <class F, class Event>
concept FunctionHears = traits_of_function<F>.hears.template has<Event>();
/// The function has the member.
template <class F, Has member>
inline constexpr bool function_has = (traits_of_function<F>.has & member) != Has::none;
/// Sends the function an event that it may have a hook for.
template <class F, class Event>
void notify_function(F& function, const Event& event) {
    if constexpr (FunctionHears<F, Event>) function.on(event);
}

/// It emits any number of records for one, so that they are counted.
template <class Operator>
inline constexpr bool is_selective =
    Operator::traits.emits == Emits::at_most_one || Operator::traits.emits == Emits::any_number;
/// It may make several records of one.
template <class Operator>
inline constexpr bool fans_out = Operator::traits.emits == Emits::any_number;
/// It gives the stream a watermark, whatever that of its input is.
template <class Operator>
inline constexpr bool draws_watermarks = Hears<Operator, Clock>;
/// Others make its results, and notify its task: tasks that it brings, or outside threads.
template <class Operator>
inline constexpr bool works_apart = Hears<Operator, TasksWanted> || Operator::traits.awaits_outside;
/// It is the first of its node.
template <class Operator>
inline constexpr bool begins_node = works_apart<Operator> || Operator::traits.takes_batches;
/// It is called in every run, to look at the clock or for results that others make.
template <class Operator>
inline constexpr bool asks_in_every_run =
    draws_watermarks<Operator> || has<Operator, Has::wake_at_ns> || works_apart<Operator>;
}  // namespace strid::operators
