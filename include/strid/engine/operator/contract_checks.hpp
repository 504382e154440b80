// SPDX-License-Identifier: Apache-2.0
//
// Compiler errors for an operator, a source or a function that breaks the contract
// (operator/contract.hpp): one sentence for each fault, and for the first fault only. Compilers
// print the template's types beside it, and so the class. Those for a function are in
// engine/operator/checks.hpp.
//
// Each check is true if the class is right, and does not compile otherwise. Compile time only.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <strid/engine/operator/contract_names.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/source.hpp>

namespace strid::operators {

template <class Operator>
concept HasTraits = requires {
    { Operator::traits } -> std::same_as<const OperatorTraits&>;
};
template <class Operator>
concept HasTypes = requires {
    typename Operator::Arrived;
    typename Operator::Emitted;
};
template <class Operator>
concept Processes =
    requires(Operator& one, typename Operator::Arrived& record, EmitterProbe& emit) {
        { one.process(record, emit) } -> std::same_as<void>;
    };
template <class Operator>
concept ProcessesConstants =
    requires(Operator& one, const typename Operator::Arrived& record, EmitterProbe& emit) {
        { one.process(record, emit) } -> std::same_as<void>;
    };

/// Its traits agree with each other.
template <class Operator>
consteval bool agrees_with_itself() {
    constexpr OperatorTraits traits = Operator::traits;
    constexpr bool follows_time = Hears<Operator, Watermark>;
    constexpr bool wakes_for = follows_time || Hears<Operator, Clock>;
    constexpr bool brings = Hears<Operator, TasksWanted>;
    constexpr bool awaits = traits.awaits_outside;
    constexpr bool can_wait = follows_time && has<Operator, Has::held_back>;
    if constexpr (traits.needs_watermarks && !follows_time) {
        static_assert(follows_time,
                      "the trait .needs_watermarks is for an operator with on(Watermark, auto& "
                      "emit)");
        return false;
    } else if constexpr (has<Operator, Has::passed> && !follows_time) {
        static_assert(follows_time, "passed() is for an operator with on(Watermark, auto& emit)");
        return false;
    } else if constexpr (has<Operator, Has::wake_at_ns> && !wakes_for) {
        static_assert(wakes_for,
                      "wake_at_ns() is for an operator with on(Watermark, auto& emit) or "
                      "on(Clock), which is called then");
        return false;
    } else if constexpr (brings && !can_wait) {
        static_assert(can_wait,
                      "an operator with on(const TasksWanted&) has on(Watermark, auto& emit), to "
                      "take the results of its tasks, and held_back(), for when they have no room");
        return false;
    } else if constexpr (awaits && !can_wait) {
        static_assert(can_wait,
                      "an operator of the trait .awaits_outside has on(Watermark, auto& emit), to "
                      "take the results of its threads, and held_back(), for when they are busy");
        return false;
    } else if constexpr (Hears<Operator, CutOff> && traits.emits != Emits::nothing) {
        static_assert(!Hears<Operator, CutOff>,
                      "on(CutOff) is for operators that emit nothing: .emits = Emits::nothing");
        return false;
    } else if constexpr ((traits.emits == Emits::nothing) !=
                         std::is_void_v<typename Operator::Emitted>) {
        static_assert(std::is_void_v<typename Operator::Emitted>,
                      "the trait .emits = Emits::nothing and OperatorTypes<Arrived, void> go "
                      "together");
        return false;
    } else {
        return true;
    }
}

/// The hooks and members are those of the traits.
template <class Operator>
consteval bool has_what_it_lists() {
    using enum Has;
    if constexpr (!detail::can_be_derived_from<Operator>()) {
        return false;
    } else if constexpr (!detail::has_its_hooks<Operator, TasksWanted, Opened, Restored,
                                                BatchBegins, Coming<typename Operator::Arrived>,
                                                Watermark, Clock, BatchEnds, SourceProgress, Flush,
                                                Ended, Closed, CutOff, SnapshotBegins>()) {
        return false;
    } else if constexpr (!detail::has_its_members<Operator, facts, wake_at_ns, held_back, passed,
                                                  time_of, draws_from, resource, blocks,
                                                  accepts>()) {
        return false;
    } else if constexpr (!detail::has_its_state<Operator>()) {
        return false;
    } else {
        return agrees_with_itself<Operator>();
    }
}

/// The operator keeps the contract.
template <class Operator>
consteval bool is_operator() {
    if constexpr (!HasTraits<Operator>) {
        static_assert(
            HasTraits<Operator>,
            "an operator declares its traits: static constexpr OperatorTraits traits{...} "
            "(strid/operator/contract.hpp)");
        return false;
    } else if constexpr (!HasTypes<Operator>) {
        static_assert(HasTypes<Operator>,
                      "an operator declares what arrives and what it emits: public "
                      "OperatorTypes<Arrived, Emitted>");
        return false;
    } else if constexpr (Operator::traits.only_reads && !ProcessesConstants<Operator>) {
        static_assert(ProcessesConstants<Operator>,
                      "an operator of the trait .only_reads has void process(const Arrived&, auto& "
                      "emit)");
        return false;
    } else if constexpr (!Processes<Operator>) {
        static_assert(Processes<Operator>, "an operator has void process(Arrived&, auto& emit)");
        return false;
    } else if constexpr (!std::copy_constructible<Operator>) {
        static_assert(std::copy_constructible<Operator>,
                      "an operator is copied for each replica: hold what cannot be copied by a "
                      "std::shared_ptr");
        return false;
    } else {
        return has_what_it_lists<Operator>();
    }
}

/// A source that declares what it has for the engine.
template <class S>
concept HasSourceTraits = requires {
    { S::traits } -> std::same_as<const SourceTraits&>;
};

/// The source keeps the contract.
template <class S>
consteval bool is_source() {
    using enum Has;
    if constexpr (!Source<S>) {
        static_assert(Source<S>,
                      "a source has using record_type = T, and SourceStatus poll(auto& emit, "
                      "std::size_t budget), which calls emit(T)");
        return false;
    } else if constexpr (!HasSourceTraits<S>) {
        static_assert(HasSourceTraits<S>,
                      "a source declares its traits: static constexpr SourceTraits traits{.hears = "
                      "events<...>} (strid/operator/contract.hpp)");
        return false;
    } else if constexpr (!std::copy_constructible<S>) {
        static_assert(std::copy_constructible<S>,
                      "a source is copied for each replica: hold what cannot be copied by a "
                      "std::shared_ptr");
        return false;
    } else if constexpr (!detail::can_be_derived_from<S>()) {
        return false;
    } else if constexpr (!detail::has_its_hooks<S, TasksWanted, Opened, Restored, SnapshotBegins,
                                                Closed, Stopped>()) {
        return false;
    } else if constexpr (!detail::has_its_members<S, wake_at_ns, blocks, files, fraction_done,
                                                  bytes_read, replicas_used, keep_all_text,
                                                  is_journalled>()) {
        return false;
    } else {
        return detail::has_its_state<S>();
    }
}

/// The operator's name; empty if it has none, which is reported elsewhere.
template <class Operator>
consteval std::string_view kind_of() {
    if constexpr (HasTraits<Operator>) return Operator::traits.kind;
    return {};
}

/// The result of a maker whose static assertions failed: no further error follows.
struct Refused {};

/// It makes an operator from the description of the stream.
template <class Maker, class Argument>
consteval bool takes_maker() {
    static_assert(std::invocable<Maker, Argument>,
                  "apply needs an operator, or a function that makes one of Arriving<T>, behind "
                  "key_by of ArrivingByKey<T, KeyOf> (strid/operator/contract.hpp)");
    if constexpr (std::invocable<Maker, Argument>) {
        return !std::same_as<std::invoke_result_t<Maker, Argument>, Refused>;
    }
    return false;
}

/// The operator itself, or the one that a maker makes; Refused if there is none.
template <class OperatorOrMaker, class Argument>
auto operator_of(OperatorOrMaker one, const Argument& arriving) {
    if constexpr (HasTraits<OperatorOrMaker>) {
        return one;
    } else if constexpr (takes_maker<OperatorOrMaker, Argument>()) {
        return std::invoke(std::move(one), arriving);
    } else {
        return Refused{};
    }
}

/// It draws the watermark of the records that it emits from this function of them.
template <class Operator>
concept GivesTime = requires(const Operator& one, const typename Operator::Emitted& record) {
    { one.draws_from()(record) } -> std::convertible_to<EventTime>;
};
template <class Operator>
inline constexpr bool gives_time = GivesTime<Operator>;

/// The operator keeps the contract, and accepts these records.
template <class Operator, class Arrived>
consteval bool is_operator_for() {
    if constexpr (!is_operator<Operator>()) {
        return false;
    } else if constexpr (!std::same_as<typename Operator::Arrived, Arrived>) {
        static_assert(std::same_as<typename Operator::Arrived, Arrived>,
                      "other records arrive here than the operator takes: it is an "
                      "OperatorTypes<Arrived, ...>, behind key_by of message::Hashed<T>");
        return false;
    } else {
        return true;
    }
}

/// The same, and its late records may be a stream of their own.
template <class Operator, class Arrived>
consteval bool finds_late_for_apart() {
    if constexpr (std::same_as<Operator, Refused>) {
        return false;
    } else if constexpr (!is_operator_for<Operator, Arrived>()) {
        return false;
    } else {
        static_assert(Operator::traits.finds_late,
                      "late_apart is for an operator that finds late records: one of the trait "
                      ".finds_late, which calls emit.late(record)");
        return Operator::traits.finds_late;
    }
}

}  // namespace strid::operators
