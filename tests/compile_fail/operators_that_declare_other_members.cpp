// SPDX-License-Identifier: Apache-2.0
//
// An operator has the members that its traits list, and no other; it names its state, or has none.
// Each fault is one sentence.
// error: there is a member with a name of the contract that the traits do not list
// error: there is a member with a name of the contract that the traits do not list
// error: there is a member with a name of the contract that the traits do not list
// error: there is a member with a name of the contract that the traits do not list
// error: the traits list a member in .has that is not there, not public
// error: the traits list a member in .has that is not there, not public
// error: the traits list a member in .has that the engine does not call in such a class
// error: a class with members names those that hold state
// error: a class with members names those that hold state
// error: the state of a class is a public auto state()
// error: the state of a class is a public auto state()
// error: the trait .stateless is for a class without state()
// error: the class is not final
#include <cstdint>
#include <tuple>

#include <strid/engine/operator/contract_checks.hpp>

#include "numbers.hpp"

using namespace strid;

struct Passes : OperatorTypes<int, int> {
    void process(int& number, auto& emit) { emit(number); }
};

#ifdef STRID_MUST_NOT_COMPILE

constexpr EventSet none = events<>;

struct UndeclaredFacts : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    [[nodiscard]] static OperatorFacts facts() { return {}; }
};
class PrivateFacts : public Passes {
  public:
    static constexpr OperatorTraits traits{.hears = none};

  private:
    [[nodiscard]] static OperatorFacts facts() { return {}; }
};
struct OverloadedWake : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
    [[nodiscard]] static std::int64_t wake_at_ns(int) { return 0; }
};
struct TemplateHeldBack : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    template <int = 0>
    [[nodiscard]] bool held_back() const {
        return false;
    }
};
struct MisspeltFacts : Passes {
    static constexpr OperatorTraits traits{.hears = none, .has = Has::facts};
    [[nodiscard]] static OperatorFacts fact() { return {}; }
};
struct WakesInAnotherUnit : Passes {
    static constexpr OperatorTraits traits{.hears = events<Watermark>, .has = Has::wake_at_ns};
    void on(Watermark, auto&) {}
    [[nodiscard]] static int wake_at_ns() { return 0; }
};
struct FilesOfAnOperator : Passes {
    static constexpr OperatorTraits traits{.hears = none, .has = Has::files};
};
struct NoState : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    int sum = 0;
};
struct MisspeltState : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    int sum = 0;
    auto sate() { return std::tie(sum); }
};
class PrivateState : public Passes {
  public:
    static constexpr OperatorTraits traits{.hears = none};

  private:
    auto state() { return std::tie(sum_); }
    int sum_ = 0;
};
struct StateOfAnotherType : Passes {
    static constexpr OperatorTraits traits{.hears = none};
    int sum = 0;
    int state() { return sum; }
};
struct StatelessWithState : Passes {
    static constexpr OperatorTraits traits{.hears = none, .stateless = true};
    int sum = 0;
    auto state() { return std::tie(sum); }
};
struct Final final : Passes {
    static constexpr OperatorTraits traits{.hears = none};
};

void build(Graph& graph) {
    const auto add = [&graph](auto one) { graph.source(Numbers{}).apply(one); };
    add(UndeclaredFacts{});
    add(PrivateFacts{});
    add(OverloadedWake{});
    add(TemplateHeldBack{});
    add(MisspeltFacts{});
    add(WakesInAnotherUnit{});
    add(FilesOfAnOperator{});
    add(NoState{});
    add(MisspeltState{});
    add(PrivateState{});
    add(StateOfAnotherType{});
    add(StatelessWithState{});
    add(Final{});
}

#else

/// Each member of the bad twins, as it is right.
class Declares : public Passes {
  public:
    static constexpr OperatorTraits traits{.emits = Emits::any_number,
                                           .hears = events<Watermark, Ended, Closed>,
                                           .has = Has::facts | Has::wake_at_ns};
    void on(Watermark, auto& /*emit*/) {}
    void on(Ended, auto& emit) { emit(sum_); }
    void on(Closed) {}
    [[nodiscard]] static OperatorFacts facts() { return {}; }
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
    auto state() { return std::tie(sum_); }

  private:
    int sum_ = 0;
};
struct Configured : Passes {
    static constexpr OperatorTraits traits{.hears = events<>, .stateless = true};
    int limit = 0;
};
/// Its hooks and members depend on its argument.
template <bool wakes>
struct Conditional : Passes {
    static constexpr OperatorTraits traits{.hears = events_if<Watermark>(wakes),
                                           .has = has_if(wakes, Has::wake_at_ns)};
    void on(Watermark, auto& /*emit*/)
        requires wakes
    {}
    [[nodiscard]] static std::int64_t wake_at_ns()
        requires wakes
    {
        return 0;
    }
};

void build(Graph& graph) {
    graph.source(Numbers{}).apply(Declares{}).sink([](int) {});
    graph.source(Numbers{}).apply(Configured{}).sink([](int) {});
    graph.source(Numbers{}).apply(Conditional<true>{}).sink([](int) {});
    graph.source(Numbers{}).apply(Conditional<false>{}).sink([](int) {});
}

#endif
