// SPDX-License-Identifier: Apache-2.0
//
// Compiler errors for an operator that breaks the contract (operator/contract.hpp): one sentence
// for each fault, and for the first fault only. Compilers print the template's types beside it, and
// so the operator.
//
// Each check is true if the operator is right, and does not compile otherwise. Compile time only.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <strid/operator/contract.hpp>

namespace strid::operators {

namespace detail {

/// An argument of any type.
struct Anything {
    template <class T>
    operator T&() const;  // NOLINT: implicit by intent
    template <class T>
    operator T&&() const;  // NOLINT: implicit by intent
};

/// It has an overload of `on` for the event, whatever other arguments that takes.
template <class Operator, class Event>
concept TakesSomehow =
    requires(Operator& one, Event& event) { one.on(event); } ||
    requires(Operator& one, Event& event, Anything& any) { one.on(event, any); } ||
    requires(Operator& one, Event& event, Anything& any) { one.on(event, any, any); };

template <class Operator, class Event, class Result>
concept HearsWith = requires(Operator& one, const Event& event) {
    { one.on(event) } -> std::same_as<Result>;
};
template <class Operator, class Event>
concept AnswersWell = requires(Operator& one, const Event& event, EmitterProbe& emit) {
    { one.on(event, emit) } -> std::same_as<void>;
} || requires(Operator& one, const Event& event, EmitterProbe& emit) {
    { one.on(event, emit) } -> std::same_as<bool>;
};

template <class Operator, class Event, class Result = void>
inline constexpr bool hears_amiss =
    TakesSomehow<Operator, Event> && !HearsWith<Operator, Event, Result>;
template <class Operator, class Event>
inline constexpr bool answers_amiss =
    TakesSomehow<Operator, Event> && !AnswersWell<Operator, Event>;

/// Names that look like hooks. A class derived from these and from the operator has the name twice
/// if the operator has it too, so that it is ambiguous.
struct LikeHooks {
    int open, close, flush, finish, advance, begin_batch, attach, on_watermark, on_progress,
        take_late;
};
template <class Operator>
struct WithLikeHooks : Operator, LikeHooks {};

template <class Operator>
consteval bool has_name_like_a_hook() {
    if constexpr (!std::is_class_v<Operator> || std::is_final_v<Operator>) {
        return false;
    } else {
        using Named = WithLikeHooks<Operator>;
        return !(
            requires { &Named::open; } && requires { &Named::close; } &&
            requires { &Named::flush; } && requires { &Named::finish; } &&
            requires { &Named::advance; } && requires { &Named::begin_batch; } &&
            requires { &Named::attach; } && requires { &Named::on_watermark; } &&
            requires { &Named::on_progress; } && requires { &Named::take_late; });
    }
}
template <class Operator>
consteval bool has_any_on() {
    if constexpr (!std::is_class_v<Operator> || std::is_final_v<Operator>) {
        return false;
    } else {
        struct On {
            int on;
        };
        struct Named : Operator, On {};
        return !requires { &Named::on; };
    }
}

}  // namespace detail

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

/// The hooks have the signatures of the contract.
template <class Operator>
consteval bool has_right_hooks() {
    using namespace detail;
    using ComingHere = Coming<typename Operator::Arrived>;
    constexpr bool heard = !hears_amiss<Operator, Opened> && !hears_amiss<Operator, BatchBegins> &&
                           !hears_amiss<Operator, BatchEnds> &&
                           !hears_amiss<Operator, SourceProgress> &&
                           !hears_amiss<Operator, Flush> && !hears_amiss<Operator, Closed> &&
                           !hears_amiss<Operator, CutOff>;
    constexpr bool answered =
        !answers_amiss<Operator, Watermark> && !answers_amiss<Operator, Ended>;
    constexpr bool none =
        !Hears<Operator, Opened> && !Hears<Operator, BatchBegins> && !Hears<Operator, BatchEnds> &&
        !Hears<Operator, SourceProgress> && !Hears<Operator, Flush> && !Hears<Operator, Closed> &&
        !Hears<Operator, CutOff> && !Hears<Operator, Clock> && !Hears<Operator, ComingHere> &&
        !Hears<Operator, TasksWanted> && !Answers<Operator, Watermark> && !Answers<Operator, Ended>;
    if constexpr (!answered) {
        static_assert(
            answered,
            "an operator hears of Watermark and Ended by void on(Event, auto& emit), or by "
            "bool on(Event, auto& emit), which says whether all is out");
        return false;
    } else if constexpr (!heard) {
        static_assert(heard,
                      "an operator hears of Opened, BatchBegins, BatchEnds, SourceProgress, Flush, "
                      "Closed and CutOff by void on(Event)");
        return false;
    } else if constexpr (hears_amiss<Operator, Clock, Progress>) {
        static_assert(!hears_amiss<Operator, Clock, Progress>,
                      "an operator that draws watermarks says how far the stream has come by "
                      "Progress on(Clock)");
        return false;
    } else if constexpr (hears_amiss<Operator, ComingHere, std::size_t>) {
        static_assert(!hears_amiss<Operator, ComingHere, std::size_t>,
                      "an operator looks ahead by std::size_t on(Coming<Arrived>): at how many of "
                      "the records it has looked");
        return false;
    } else if constexpr (none && has_any_on<Operator>()) {
        static_assert(!none, "an operator has on(...) for none of the events of the engine");
        return false;
    } else if constexpr (has_name_like_a_hook<Operator>()) {
        static_assert(!has_name_like_a_hook<Operator>(),
                      "a member of an operator is named like a hook of old (open, close, flush, "
                      "finish, advance, ...), and nothing calls it: hooks are on(Event)");
        return false;
    } else {
        return true;
    }
}

/// Each trait of operators that bring tasks has its hook, and each hook its trait.
template <class Operator>
consteval bool agrees_with_its_tasks() {
    constexpr OperatorTraits traits = Operator::traits;
    constexpr bool passes = requires(const Operator& one) {
        { one.passed() } -> std::same_as<Progress>;
    };
    constexpr bool delays = traits.watermarks == Watermarks::delayed;
    if constexpr (delays != passes) {
        static_assert(delays == passes,
                      "Progress passed() const and the trait .watermarks = Watermarks::delayed go "
                      "together");
        return false;
    } else if constexpr (traits.brings_tasks != Hears<Operator, TasksWanted>) {
        static_assert(traits.brings_tasks == Hears<Operator, TasksWanted>,
                      "on(const TasksWanted&) and the trait .brings_tasks go together");
        return false;
    } else if constexpr (traits.brings_tasks && !(traits.asks_the_clock && traits.holds_back)) {
        static_assert(traits.asks_the_clock && traits.holds_back,
                      "the trait .brings_tasks needs .asks_the_clock, to take what they have made, "
                      "and .holds_back, for when they have no room");
        return false;
    } else {
        return true;
    }
}

/// Each trait has its hook, and each hook its trait.
template <class Operator>
consteval bool agrees_with_its_traits() {
    constexpr OperatorTraits traits = Operator::traits;
    using ComingHere = Coming<typename Operator::Arrived>;
    constexpr bool draws = traits.watermarks == Watermarks::drawn;
    constexpr bool relays = traits.watermarks == Watermarks::relayed;
    constexpr bool wakes = requires(const Operator& one) { one.wake_at_ns(); };
    constexpr bool held = requires(const Operator& one) {
        { one.held_back() } -> std::same_as<bool>;
    };
    if constexpr (draws != Hears<Operator, Clock>) {
        static_assert(
            draws == Hears<Operator, Clock>,
            "Progress on(Clock) and the trait .watermarks = Watermarks::drawn go together");
        return false;
    } else if constexpr (relays != Hears<Operator, SourceProgress>) {
        static_assert(
            relays == Hears<Operator, SourceProgress>,
            "on(SourceProgress) and the trait .watermarks = Watermarks::relayed go together");
        return false;
    } else if constexpr ((traits.watermarks == Watermarks::needed ||
                          traits.watermarks == Watermarks::heard ||
                          traits.watermarks == Watermarks::delayed) &&
                         !Answers<Operator, Watermark>) {
        static_assert(
            Answers<Operator, Watermark>,
            "the traits Watermarks::needed and Watermarks::heard want on(Watermark, auto& "
            "emit)");
        return false;
    } else if constexpr (Answers<Operator, Watermark> && traits.watermarks == Watermarks::ignored) {
        static_assert(!Answers<Operator, Watermark>,
                      "on(Watermark, auto& emit) needs the trait .watermarks = Watermarks::needed, "
                      "or Watermarks::heard");
        return false;
    } else if constexpr (traits.asks_the_clock && !Answers<Operator, Watermark>) {
        static_assert(Answers<Operator, Watermark>,
                      "the trait .asks_the_clock needs on(Watermark, auto& emit)");
        return false;
    } else if constexpr (wakes && !traits.asks_the_clock && !draws) {
        static_assert(!wakes,
                      "wake_at_ns() needs the trait .asks_the_clock, or an operator that draws "
                      "watermarks");
        return false;
    } else if constexpr (traits.looks_ahead != Hears<Operator, ComingHere>) {
        static_assert(traits.looks_ahead == Hears<Operator, ComingHere>,
                      "std::size_t on(Coming<Arrived>) and the trait .looks_ahead go together");
        return false;
    } else if constexpr (traits.holds_back != held) {
        static_assert(traits.holds_back == held,
                      "bool held_back() const and the trait .holds_back go together");
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
        return agrees_with_its_tasks<Operator>();
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
    } else if constexpr (!has_right_hooks<Operator>()) {
        return false;
    } else {
        return agrees_with_its_traits<Operator>();
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
