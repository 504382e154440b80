// SPDX-License-Identifier: Apache-2.0
//
// A function whose call changes it names its state, or consists of plain values; one with hooks
// declares them. Each fault is one sentence.
// error: a function whose call changes it names its state
// error: a function whose call changes it names its state
// error: a function whose call changes it names its state
// error: the state of a class is a public auto state()
// error: a function with on(...) declares its hooks
// error: the traits list the events that have a hook: .hears = events<Opened, Ended>
// error: the traits list an event in .hears = events<...> for which there is no public on(Event)
// error: there is an on(Event) for an event that the traits do not list
// error: the traits list an event in .hears = events<...> that is not sent to such a class
// error: there is a member with a name of the contract that the traits do not list
// error: the traits list a member in .has that is not there, not public
// error: the class is not final
// error: a function F that takes Timers has a public void on_timer(EventTime, Timers&
// error: a function F that takes Timers has a public void on_timer(EventTime, Timers&
#include <string>
#include <tuple>
#include <vector>

#include "numbers.hpp"

using namespace strid;

#ifdef STRID_MUST_NOT_COMPILE

struct Writer {
    std::string text;
    void operator()(int) { text += '.'; }
    void clos() {}
};
struct MisspeltState : Writer {
    auto sate() { return std::tie(text); }
};
class PrivateState {
  public:
    void operator()(int number) { sum_ += number; }

  private:
    auto state() { return std::tie(sum_); }
    int sum_ = 0;
};
struct Sum {
    int sum = 0;
    void operator()(int number) { sum += number; }
};
struct NoTraits : Sum {
    void on(Closed) {}
};
struct DeclaresNothing : Sum {
    static constexpr FunctionTraits traits{};
};
struct MisspeltHook : Sum {
    static constexpr FunctionTraits traits{.hears = events<Closed>};
    void clos() {}
};
struct Undeclared : Sum {
    static constexpr FunctionTraits traits{.hears = events<Closed>};
    void on(Closed) {}
    void on(Flush) {}
};
struct OfAnOperator : Sum {
    static constexpr FunctionTraits traits{.hears = events<Ended>};
};
struct UndeclaredBlocks : Sum {
    static constexpr FunctionTraits traits{.hears = events<>};
    [[nodiscard]] static bool blocks() { return true; }
};
struct MisspeltFiles : Sum {
    static constexpr FunctionTraits traits{.hears = events<>, .has = Has::files};
};
struct Final final : Sum {};
struct WithoutTimers {
    void operator()(int, Timers& timers, Emitter<int>&) const { timers.at(EventTime::latest()); }
    void onTimer(EventTime, Timers&, Emitter<int>&) const {}
};
struct OtherTimers : WithoutTimers {
    void on_timer(EventTime, Emitter<int>&) const {}
};

void build(Graph& graph) {
    const auto add = [&graph](auto one) { graph.source(Numbers{}).sink(one); };
    const auto process = [&graph](auto one) {
        graph.source(Numbers{}).key_by([](int n) { return n; }).template process<int>(one);
    };
    add(Writer{});
    add(MisspeltState{});
    add([texts = std::vector<std::string>{}](int) mutable { texts.emplace_back(); });
    add(PrivateState{});
    add(NoTraits{});
    add(DeclaresNothing{});
    add(MisspeltHook{});
    add(Undeclared{});
    add(OfAnOperator{});
    add(UndeclaredBlocks{});
    add(MisspeltFiles{});
    add(Final{});
    process(WithoutTimers{});
    process(OtherTimers{});
}

#else

struct Writer {
    static constexpr FunctionTraits traits{.hears = events<Closed>, .has = Has::blocks};
    std::string text;
    void operator()(int) { text += '.'; }
    void on(Closed) {}
    [[nodiscard]] static bool blocks() { return false; }
    auto state() { return std::tie(text); }
};
struct Sum {
    int sum = 0;
    void operator()(int number) { sum += number; }
};
struct Named {
    std::vector<int> numbers;
    void operator()(int number) { numbers.push_back(number); }
    auto state() { return std::tie(numbers); }
};
struct Timed {
    void operator()(int, Timers& timers, Emitter<int>&) const { timers.at(ProcessingTime{}); }
    void on_timer(ProcessingTime, Timers&, Emitter<int>&) const {}
};
struct SetsNone {
    static constexpr FunctionTraits traits{.hears = events<>, .sets_no_timers = true};
    void operator()(int, Timers&, Emitter<int>&) const {}
};

void build(Graph& graph) {
    const auto add = [&graph](auto one) { graph.source(Numbers{}).sink(one); };
    std::vector<std::string> texts;
    const auto process = [&graph](auto one) {
        graph.source(Numbers{})
            .key_by([](int n) { return n; })
            .template process<int>(one)
            .sink([](int) {});
    };
    add(Writer{});
    add(Sum{});
    add(Named{});
    add([&texts](int) { texts.emplace_back(); });
    add([last = 0](int number) mutable {
        if (number != last) last = number;
    });
    process(Timed{});
    process(SetsNone{});
}

#endif
