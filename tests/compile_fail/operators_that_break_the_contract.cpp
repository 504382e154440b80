// SPDX-License-Identifier: Apache-2.0
//
// An operator that breaks a rule of the contract (operator/contract.hpp) does not compile, and the
// compiler says which in one sentence. Hooks that an operator declares and has not, or has and does
// not declare, are in operators_that_declare_other_hooks.cpp and _members.cpp.
// error: apply needs an operator, or a function that makes one of Arriving<T>
// error: an operator declares what arrives and what it emits
// error: an operator has void process(Arrived&, auto& emit)
// error: an operator of the trait .only_reads has void process(const Arrived&
// error: the hook for Watermark and Ended is void on(Event, auto& emit)
// error: the hook for this event is void on(Event), without an emitter
// error: the hook for Clock is Progress on(Clock)
// error: the hook for Coming is std::size_t on(Coming<Arrived>)
// error: the trait .needs_watermarks is for an operator with on(Watermark, auto& emit)
// error: wake_at_ns() is for an operator with on(Watermark, auto& emit) or on(Clock)
// error: passed() is for an operator with on(Watermark, auto& emit)
// error: an operator with on(const TasksWanted&) has on(Watermark, auto& emit)
// error: an operator of the trait .awaits_outside has on(Watermark, auto& emit)
// error: on(CutOff) is for operators that emit nothing
// error: the trait .emits = Emits::nothing and OperatorTypes<Arrived, void> go together
// error: other records arrive here than the operator takes
// error: apply needs an operator, or a function that makes one of Arriving<T>
#include <cstddef>
#include <cstdint>

#include <strid/engine/operator/contract_checks.hpp>

#include "numbers.hpp"

using namespace strid;

/// The part that is right in all of them.
struct Passes : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(int& number, auto& emit) { emit(number); }
};
struct Timed : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.hears = events<Watermark>, .needs_watermarks = true};
    void process(int& number, auto& emit) { emit(number); }
};

#ifdef STRID_MUST_NOT_COMPILE

struct NoTraits : OperatorTypes<int, int> {
    void process(int& number, auto& emit) { emit(number); }
};
struct NoTypes {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(int& number, auto& emit) { emit(number); }
};
struct NoEmit : Passes {
    void process(int&) {}
};
struct Changes : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.hears = events<>, .only_reads = true};
    void process(int& number, auto& emit) { emit(++number); }
};
struct WatermarkWithoutEmit : Timed {
    void on(Watermark) {}
};
struct OpenedWithEmit : Passes {
    static constexpr OperatorTraits traits{.hears = events<Opened>};
    void on(const Opened&, auto&) {}
};
struct ClockOfAnotherResult : Passes {
    static constexpr OperatorTraits traits{.hears = events<Clock>};
    EventTime on(Clock) { return {}; }
};
struct ComingWithoutResult : Passes {
    static constexpr OperatorTraits traits{.hears = events<Coming<int>>};
    void on(Coming<int>) {}
};
struct NeedsTimeWithoutHook : Passes {
    static constexpr OperatorTraits traits{.hears = events<>, .needs_watermarks = true};
};
struct WakesForNothing : Passes {
    static constexpr OperatorTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
};
struct DelaysNothing : Passes {
    static constexpr OperatorTraits traits{.hears = events<>, .has = Has::passed};
    [[nodiscard]] static Progress passed() { return {}; }
};
struct TasksWithoutWatermarks : Passes {
    static constexpr OperatorTraits traits{.hears = events<TasksWanted>};
    void on(const TasksWanted&) {}
};
struct AwaitsWithoutWatermarks : Passes {
    static constexpr OperatorTraits traits{.hears = events<>, .awaits_outside = true};
};
struct CutOffInTheMiddle : Passes {
    static constexpr OperatorTraits traits{.hears = events<CutOff>};
    void on(CutOff) {}
};
struct SinkThatEmits : Passes {
    static constexpr OperatorTraits traits{.emits = Emits::nothing, .hears = events<>};
};
struct OfText : OperatorTypes<const char*, int> {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(const char*&, auto& emit) { emit(1); }
};

void build(Graph& graph) {
    const auto add = [&graph](auto one) { graph.source(Numbers{}).apply(one); };
    add(NoTraits{});
    add(NoTypes{});
    add(NoEmit{});
    add(Changes{});
    add(WatermarkWithoutEmit{});
    add(OpenedWithEmit{});
    add(ClockOfAnotherResult{});
    add(ComingWithoutResult{});
    add(NeedsTimeWithoutHook{});
    add(WakesForNothing{});
    add(DelaysNothing{});
    add(TasksWithoutWatermarks{});
    add(AwaitsWithoutWatermarks{});
    add(CutOffInTheMiddle{});
    add(SinkThatEmits{});
    add(OfText{});
    add([](const char* text) { return text; });
}

#else

struct HearsOfTime : Timed {
    void on(Watermark, auto&) {}
};

void build(Graph& graph) {
    graph.source(Numbers{}).apply(Passes{}).sink([](int) {});
    graph.source(Numbers{}).apply([](const auto&) { return HearsOfTime{}; }).sink([](int) {});
}

#endif
