// SPDX-License-Identifier: Apache-2.0
//
// An operator has the hooks that its traits list, and no other. Each fault is one sentence.
// error: the traits list the events that have a hook: .hears = events<Opened, Ended>
// error: the traits list an event in .hears = events<...> for which there is no public on(Event)
// error: the traits list an event in .hears = events<...> for which there is no public on(Event)
// error: there is an on(Event) for an event that the traits do not list
// error: there is an on(Event) for an event that the traits do not list
// error: there is an on(Event) for an event that the traits do not list
// error: there is an on(...) that is for none of the events of the engine, or is not public
// error: there is an on(...) that is for none of the events of the engine, or is not public
// error: events<...> lists events of strid/operator/contract.hpp
// error: the traits list an event in .hears = events<...> that is not sent to such a class
#include <tuple>

#include <strid/engine/operator/contract_checks.hpp>

#include "numbers.hpp"

using namespace strid;

struct Passes : OperatorTypes<int, int> {
    void process(int& number, auto& emit) { emit(number); }
};

#ifdef STRID_MUST_NOT_COMPILE

constexpr EventSet ended = events<Ended>;
constexpr EventSet none = events<>;
constexpr Emits any = Emits::any_number;

struct DeclaresNothing : Passes {
    static constexpr OperatorTraits traits{};
};
struct MisspeltHook : Passes {
    static constexpr OperatorTraits traits{.emits = any, .hears = ended};
    void on_ended(Ended, auto& emit) { emit(1); }
};
class PrivateHook : public Passes {
  public:
    static constexpr OperatorTraits traits{.emits = any, .hears = ended};

  private:
    void on(Ended, auto& emit) { emit(1); }
};
struct Undeclared : Passes {
    static constexpr OperatorTraits traits{.emits = any, .hears = none};
    void on(Ended, auto& emit) { emit(1); }
};
struct UndeclaredAmongOthers : Passes {
    static constexpr OperatorTraits traits{.emits = any, .hears = ended};
    void on(Ended, auto& emit) { emit(1); }
    void on(Closed) {}
};
struct ForAnyEvent : Passes {
    static constexpr OperatorTraits traits{.emits = any, .hears = ended};
    void on(const auto&, auto& emit) { emit(1); }
};
struct ForNoEvent : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    void on(EventTime) {}
};
class PrivateAndUndeclared : public Passes {
  public:
    static constexpr OperatorTraits traits{.emits = any, .hears = none};

  private:
    void on(Ended, auto& emit) { emit(1); }
};
constexpr EventSet of_no_event = events<int>;
struct OfASource : Passes {
    static constexpr OperatorTraits traits{.hears = events<Stopped>};
    void on(Stopped) noexcept {}
};
void build(Graph& graph) {
    const auto add = [&graph](auto one) { graph.source(Numbers{}).apply(one); };
    add(DeclaresNothing{});
    add(MisspeltHook{});
    add(PrivateHook{});
    add(Undeclared{});
    add(UndeclaredAmongOthers{});
    add(ForAnyEvent{});
    add(ForNoEvent{});
    add(PrivateAndUndeclared{});
    add(OfASource{});
}

#else

/// Each member of the bad twins, as it is right.
class Declares : public Passes {
  public:
    static constexpr OperatorTraits traits{.emits = Emits::any_number,
                                           .hears = events<Watermark, Ended, Closed>};
    void on(Watermark, auto& /*emit*/) {}
    void on(Ended, auto& emit) { emit(sum_); }
    void on(Closed) {}
    auto state() { return std::tie(sum_); }

  private:
    int sum_ = 0;
};
/// Its hooks depend on its argument.
template <bool wakes>
struct Conditional : Passes {
    static constexpr OperatorTraits traits{.hears = events_if<Watermark>(wakes)};
    void on(Watermark, auto& /*emit*/)
        requires wakes
    {}
};

void build(Graph& graph) {
    graph.source(Numbers{}).apply(Declares{}).sink([](int) {});
    graph.source(Numbers{}).apply(Conditional<true>{}).sink([](int) {});
    graph.source(Numbers{}).apply(Conditional<false>{}).sink([](int) {});
}

#endif
