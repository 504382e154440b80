// SPDX-License-Identifier: Apache-2.0
//
// An operator that breaks a rule of the contract (operator/contract.hpp) does not compile, and the
// compiler says which in one sentence.
// error: apply needs an operator, or a function that makes one of Arriving<T>
// error: an operator declares what arrives and what it emits
// error: an operator has void process(Arrived&, auto& emit)
// error: an operator of the trait .only_reads has void process(const Arrived&
// error: an operator hears of Watermark and Ended by void on(Event, auto& emit)
// error: an operator hears of Opened, BatchBegins, BatchEnds, SourceProgress, Flush
// error: Progress on(Clock)
// error: an operator has on(...) for none of the events of the engine
// error: a member of an operator is named like a hook of old
// error: the traits Watermarks::needed and Watermarks::heard want on(Watermark, auto& emit)
// error: on(Watermark, auto& emit) needs the trait .watermarks = Watermarks::needed
// error: Progress on(Clock) and the trait .watermarks = Watermarks::drawn go together
// error: wake_at_ns() needs the trait .asks_the_clock
// error: the trait .looks_ahead go together
// error: the trait .holds_back go together
// error: Progress passed() const and the trait .watermarks = Watermarks::delayed go together
// error: on(const TasksWanted&) and the trait .brings_tasks go together
// error: the trait .brings_tasks needs .asks_the_clock
// error: on(CutOff) is for operators that emit nothing
// error: the trait .emits = Emits::nothing and OperatorTypes<Arrived, void> go together
// error: other records arrive here than the operator takes
// error: apply needs an operator, or a function that makes one of Arriving<T>
#include <cstddef>
#include <cstdint>

#include <strid/operator/contract_checks.hpp>

#include "numbers.hpp"

using namespace strid;

/// The part that is right in all of them.
struct Passes : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{};
    void process(int& number, auto& emit) { emit(number); }
};
struct Timed : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.watermarks = Watermarks::needed};
    void process(int& number, auto& emit) { emit(number); }
};

#ifdef STRID_MUST_NOT_COMPILE

struct NoTraits : OperatorTypes<int, int> {
    void process(int& number, auto& emit) { emit(number); }
};
struct NoTypes {
    static constexpr OperatorTraits traits{};
    void process(int& number, auto& emit) { emit(number); }
};
struct NoEmit : Passes {
    void process(int&) {}
};
struct Changes : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.only_reads = true};
    void process(int& number, auto& emit) { emit(++number); }
};
struct WatermarkWithoutEmit : Timed {
    void on(Watermark) {}
};
struct OpenedWithEmit : Passes {
    void on(const Opened&, auto&) {}
};
struct ClockOfAnotherResult : Passes {
    static constexpr OperatorTraits traits{.watermarks = Watermarks::drawn};
    EventTime on(Clock) { return {}; }
};
struct HearsOfNoEvent : Passes {
    void on(EventTime) {}
};
struct HookOfOld : Passes {
    void close() {}
};
struct TimeWithoutHook : Timed {};
struct HookWithoutTime : Passes {
    void on(Watermark, auto&) {}
};
struct DrawsWithoutTrait : Passes {
    Progress on(Clock) { return {}; }
};
struct WakesWithoutTrait : Passes {
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
};
struct LooksAheadWithoutTrait : Passes {
    std::size_t on(Coming<int> coming) { return coming.records.size(); }
};
struct HoldsBackWithoutHook : Passes {
    static constexpr OperatorTraits traits{.holds_back = true};
};
struct DelaysWithoutHook : Passes {
    static constexpr OperatorTraits traits{.watermarks = Watermarks::delayed};
    void on(Watermark, auto&) {}
};
struct TasksWithoutTrait : Passes {
    void on(const TasksWanted&) {}
};
struct TasksWithoutClock : Passes {
    static constexpr OperatorTraits traits{.brings_tasks = true};
    void on(const TasksWanted&) {}
};
struct CutOffInTheMiddle : Passes {
    void on(CutOff) {}
};
struct SinkThatEmits : Passes {
    static constexpr OperatorTraits traits{.emits = Emits::nothing};
};
struct OfText : OperatorTypes<const char*, int> {
    static constexpr OperatorTraits traits{};
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
    add(HearsOfNoEvent{});
    add(HookOfOld{});
    add(TimeWithoutHook{});
    add(HookWithoutTime{});
    add(DrawsWithoutTrait{});
    add(WakesWithoutTrait{});
    add(LooksAheadWithoutTrait{});
    add(HoldsBackWithoutHook{});
    add(DelaysWithoutHook{});
    add(TasksWithoutTrait{});
    add(TasksWithoutClock{});
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
