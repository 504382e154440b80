// SPDX-License-Identifier: Apache-2.0
//
// How the checks of the contract (operator/contract.hpp) find the hooks and members of a class, and
// compare them with its traits. A name is found, whatever its access and whether it is overloaded
// or a template, by a class that derives from the one in question and from one with all names:
// there it is ambiguous.
//
// Each check is true if the class is right, and does not compile otherwise. Compile time only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <strid/engine/operator/declared.hpp>
#include <strid/operator/contract.hpp>

namespace strid::operators {

namespace detail {

/// The names of the contract.
struct KnownNames {
    int on, state, facts, wake_at_ns, held_back, passed, time_of, draws_from, resource, blocks,
        accepts, files, fraction_done, bytes_read, replicas_used, keep_all_text, is_journalled;
};
template <class Class>
struct WithKnownNames : Class, KnownNames {};

/// The names of the contract that a class has.
struct NamesUsed {
    bool on = false;
    bool state = false;
    Has others = Has::none;
};

template <class Class>
consteval NamesUsed names_used() {
    NamesUsed used;
    if constexpr (std::is_class_v<Class>) {
        using Named = WithKnownNames<Class>;
        constexpr bool none = requires {
            &Named::on, &Named::state, &Named::facts, &Named::wake_at_ns, &Named::held_back,
                &Named::passed, &Named::time_of, &Named::draws_from, &Named::resource,
                &Named::blocks, &Named::accepts, &Named::files, &Named::fraction_done,
                &Named::bytes_read, &Named::replicas_used, &Named::keep_all_text,
                &Named::is_journalled;
        };
        if constexpr (!none) {
            const auto add = [&used](bool unnamed, Has name) {
                if (!unnamed) used.others = used.others | name;
            };
            used.on = !requires { &Named::on; };
            used.state = !requires { &Named::state; };
            add(
                requires { &Named::facts; }, Has::facts);
            add(
                requires { &Named::wake_at_ns; }, Has::wake_at_ns);
            add(
                requires { &Named::held_back; }, Has::held_back);
            add(
                requires { &Named::passed; }, Has::passed);
            add(
                requires { &Named::time_of; }, Has::time_of);
            add(
                requires { &Named::draws_from; }, Has::draws_from);
            add(
                requires { &Named::resource; }, Has::resource);
            add(
                requires { &Named::blocks; }, Has::blocks);
            add(
                requires { &Named::accepts; }, Has::accepts);
            add(
                requires { &Named::files; }, Has::files);
            add(
                requires { &Named::fraction_done; }, Has::fraction_done);
            add(
                requires { &Named::bytes_read; }, Has::bytes_read);
            add(
                requires { &Named::replicas_used; }, Has::replicas_used);
            add(
                requires { &Named::keep_all_text; }, Has::keep_all_text);
            add(
                requires { &Named::is_journalled; }, Has::is_journalled);
        }
    }
    return used;
}
template <class Class>
inline constexpr NamesUsed used_names = names_used<Class>();

/// It has an overload of `on` for the event, with an emitter or without.
template <class Class, class Event>
concept TakesSomehow = requires(Class& one, const Event& event) {
    one.on(event);
} || requires(Class& one, const Event& event, EmitterProbe& emit) { one.on(event, emit); };

template <class Class, class Event, class Result>
concept TakesAlone = requires(Class& one, const Event& event) {
    { one.on(event) } -> std::same_as<Result>;
};
template <class Class, class Event>
concept TakesWithEmitter = requires(Class& one, const Event& event, EmitterProbe& emit) {
    { one.on(event, emit) } -> std::same_as<void>;
} || requires(Class& one, const Event& event, EmitterProbe& emit) {
    { one.on(event, emit) } -> std::same_as<bool>;
};

/// A hook for this event takes the emitter, too.
template <class Event>
inline constexpr bool comes_with_emitter =
    std::is_same_v<Event, Watermark> || std::is_same_v<Event, Ended>;
template <class Event>
struct HookResult {
    using type = void;
};
template <>
struct HookResult<Clock> {
    using type = Progress;
};
template <class Arrived>
struct HookResult<Coming<Arrived>> {
    using type = std::size_t;
};

/// It has the hook, with the signature of the contract.
template <class Class, class Event>
consteval bool hears_rightly() {
    if constexpr (comes_with_emitter<Event>) {
        return TakesWithEmitter<Class, Event>;
    } else if constexpr (std::is_same_v<Event, Stopped>) {
        return requires(Class& one) {
            { one.on(Stopped{}) } noexcept -> std::same_as<void>;
        };
    } else {
        return TakesAlone<Class, Event, typename HookResult<Event>::type>;
    }
}

/// The class has the hook if, and only if, its traits list the event.
template <class Class, class Event>
consteval bool agrees_on() {
    if constexpr (Class::traits.hears.template has<Event>()) {
        return hears_rightly<Class, Event>();
    } else {
        return !TakesSomehow<Class, Event>;
    }
}

template <class Class, class Event, class... Others>
consteval bool explain_hooks() {
    if constexpr (agrees_on<Class, Event>()) {
        if constexpr (sizeof...(Others) != 0) return explain_hooks<Class, Others...>();
    } else if constexpr (!Class::traits.hears.template has<Event>()) {
        static_assert(agrees_on<Class, Event>(),
                      "there is an on(Event) for an event that the traits do not list: .hears = "
                      "events<...> lists each event that has a hook");
    } else if constexpr (!TakesSomehow<Class, Event>) {
        static_assert(agrees_on<Class, Event>(),
                      "the traits list an event in .hears = events<...> for which there is no "
                      "public on(Event)");
    } else if constexpr (comes_with_emitter<Event>) {
        static_assert(agrees_on<Class, Event>(),
                      "the hook for Watermark and Ended is void on(Event, auto& emit), or bool "
                      "on(Event, auto& emit), which returns whether all is emitted");
    } else if constexpr (std::is_same_v<Event, Clock>) {
        static_assert(agrees_on<Class, Event>(),
                      "the hook for Clock is Progress on(Clock): the watermark of the stream "
                      "behind the operator");
    } else if constexpr (std::is_same_v<Event, Stopped>) {
        static_assert(agrees_on<Class, Event>(),
                      "the hook for Stopped is void on(Stopped) noexcept");
    } else if constexpr (std::is_same_v<typename HookResult<Event>::type, std::size_t>) {
        static_assert(agrees_on<Class, Event>(),
                      "the hook for Coming is std::size_t on(Coming<Arrived>): how many of the "
                      "records it has examined");
    } else {
        static_assert(agrees_on<Class, Event>(),
                      "the hook for this event is void on(Event), without an emitter");
    }
    return false;
}

/// Its hooks are those of its traits, and each is for one of these events.
template <class Class, class... Events>
consteval bool has_its_hooks() {
    constexpr EventSet hears = Class::traits.hears;
    constexpr bool named = used_names<Class>.on;
    constexpr bool possible = (hears.bits & ~events<Events...>.bits) == 0;
    if constexpr (!hears.is_declared) {
        static_assert(hears.is_declared,
                      "the traits list the events that have a hook: .hears = events<Opened, "
                      "Ended>, or events<> for none");
        return false;
    } else if constexpr (!possible) {
        static_assert(possible,
                      "the traits list an event in .hears = events<...> that is not sent to such "
                      "a class (strid/operator/contract.hpp)");
        return false;
    } else if constexpr (!named && hears.bits == 0) {
        return true;
    } else if constexpr (!(agrees_on<Class, Events>() && ...)) {
        return explain_hooks<Class, Events...>();
    } else {
        constexpr bool known = hears.bits != 0 || hears.is_conditional;
        static_assert(known,
                      "there is an on(...) that is for none of the events of the engine, or is "
                      "not public");
        return known;
    }
}

template <class Class, Has member>
consteval bool has_rightly() {
    if constexpr (member == Has::facts) {
        return requires(const Class& one) {
            { one.facts() } -> std::same_as<OperatorFacts>;
        };
    } else if constexpr (member == Has::wake_at_ns) {
        return requires(const Class& one) {
            { one.wake_at_ns() } -> std::same_as<std::int64_t>;
        };
    } else if constexpr (member == Has::held_back) {
        return requires(const Class& one) {
            { one.held_back() } -> std::same_as<bool>;
        };
    } else if constexpr (member == Has::passed) {
        return requires(const Class& one) {
            { one.passed() } -> std::same_as<Progress>;
        };
    } else if constexpr (member == Has::time_of) {
        return requires(Class& one) { one.time_of().agree_with(nullptr); };
    } else if constexpr (member == Has::draws_from) {
        return requires(const Class& one) { one.draws_from(); };
    } else if constexpr (member == Has::resource) {
        return requires(Class& one) { one.resource(); };
    } else if constexpr (member == Has::blocks) {
        return requires(const Class& one) {
            { one.blocks() } -> std::same_as<bool>;
        };
    } else if constexpr (member == Has::accepts) {
        return requires(Class& one) {
            { one.accepts() } -> std::same_as<bool>;
        };
    } else if constexpr (member == Has::files) {
        return requires(const Class& one) { one.files().begin(), one.files().end(); };
    } else if constexpr (member == Has::fraction_done) {
        return requires(const Class& one) {
            { one.fraction_done() } -> std::same_as<double>;
        };
    } else if constexpr (member == Has::bytes_read) {
        return requires(const Class& one) {
            { one.bytes_read() } -> std::convertible_to<std::uint64_t>;
        };
    } else if constexpr (member == Has::replicas_used) {
        return requires(const Class& one) {
            { one.replicas_used(std::size_t{1}) } -> std::convertible_to<std::size_t>;
        };
    } else if constexpr (member == Has::is_journalled) {
        return requires(const Class& one) {
            { one.is_journalled() } -> std::same_as<bool>;
        };
    } else {
        return requires(Class& one) { one.keep_all_text(); };
    }
}
template <class Class, Has member>
consteval bool agrees_on_member() {
    constexpr bool listed = (Class::traits.has & member) != Has::none;
    constexpr bool named = (used_names<Class>.others & member) != Has::none;
    if constexpr (listed) return named && has_rightly<Class, member>();
    return !named || (Class::traits.has & has_if(false, member)) != Has::none;
}

template <class Class, Has member, Has... others>
consteval bool explain_members() {
    if constexpr (agrees_on_member<Class, member>()) {
        if constexpr (sizeof...(others) != 0) return explain_members<Class, others...>();
    } else if constexpr ((Class::traits.has & member) == Has::none) {
        static_assert((Class::traits.has & member) != Has::none,
                      "there is a member with a name of the contract that the traits do not list: "
                      ".has = Has::name, several joined by |");
    } else {
        static_assert(has_rightly<Class, member>(),
                      "the traits list a member in .has that is not there, not public, or not of "
                      "the signature of the contract (strid/operator/contract.hpp)");
    }
    return false;
}

/// Its members by name are those of its traits, and each is one of these.
template <class Class, Has... members>
consteval bool has_its_members() {
    constexpr Has all = (members | ...);
    constexpr Has possible_ones = all | has_if(false, all);
    constexpr bool possible = (Class::traits.has | possible_ones) == possible_ones;
    if constexpr (!possible) {
        static_assert(possible,
                      "the traits list a member in .has that the engine does not call in such a "
                      "class (strid/operator/contract.hpp)");
        return false;
    } else if constexpr ((used_names<Class>.others & all) == Has::none &&
                         Class::traits.has == Has::none) {
        return true;
    } else if constexpr ((agrees_on_member<Class, members>() && ...)) {
        return true;
    } else {
        return explain_members<Class, members...>();
    }
}

template <class State>
inline constexpr bool is_tuple = false;
template <class... States>
inline constexpr bool is_tuple<std::tuple<States...>> = true;

template <class Class>
concept HasState = requires(Class& one) { requires is_tuple<decltype(one.state())>; };

template <class Class>
consteval bool names_its_state() {
    static_assert(HasState<Class>,
                  "the state of a class is a public auto state(), which returns a std::tie of the "
                  "members that hold it");
    return HasState<Class>;
}

struct StateSharing {
    int merge_state, split_state;
};
template <class Class>
struct WithStateSharing : Class, StateSharing {};
/// It has a member merge_state or split_state, of any signature.
template <class Class>
consteval bool names_sharing() {
    if constexpr (std::is_class_v<Class> && !std::is_final_v<Class>) {
        using Named = WithStateSharing<Class>;
        return !requires { &Named::merge_state; } || !requires { &Named::split_state; };
    } else {
        return false;
    }
}
/// They are both there, and can be called.
template <class Class>
consteval bool shares_rightly() {
    if constexpr (names_sharing<Class>() && !MergesState<Class>) {
        // Of a class template both may be there for some arguments only.
        constexpr bool neither = !requires(Class& one, const Class& other) {
            one.merge_state(other);
        } && !requires(Class& one) { one.split_state(StateShare{}); };
        static_assert(neither,
                      "a class whose state other numbers of replicas go on from has both void "
                      "merge_state(const Mine& other) and void split_state(StateShare share)");
        return neither;
    } else {
        return true;
    }
}

/// It names its state, or says that its members are none.
template <class Class>
consteval bool has_its_state() {
    constexpr bool named = used_names<Class>.state;
    if constexpr (named && !HasState<Class>) {
        return names_its_state<Class>();
    } else if constexpr (!shares_rightly<Class>()) {
        return false;
    } else if constexpr (named && Class::traits.stateless) {
        static_assert(!Class::traits.stateless,
                      "the trait .stateless is for a class without state()");
        return false;
    } else {
        constexpr bool known = named || Class::traits.stateless || std::is_empty_v<Class>;
        static_assert(known,
                      "a class with members names those that hold state, auto state() { return "
                      "std::tie(...); }, or has the trait .stateless where they are configuration");
        return known;
    }
}

template <class Class>
consteval bool can_be_derived_from() {
    static_assert(!std::is_final_v<Class>,
                  "the class is not final: the engine looks for its members in a class that "
                  "derives from it");
    return !std::is_final_v<Class>;
}

}  // namespace detail

}  // namespace strid::operators
