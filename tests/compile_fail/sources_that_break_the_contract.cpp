// SPDX-License-Identifier: Apache-2.0
//
// A source has what its traits list, and no other; it names its state, or has none. Each fault is
// one sentence.
// error: a source has using record_type = T, and SourceStatus poll(auto& emit
// error: a source declares its traits: static constexpr SourceTraits traits
// error: the traits list the events that have a hook: .hears = events<Opened, Ended>
// error: the traits list an event in .hears = events<...> for which there is no public on(Event)
// error: there is an on(Event) for an event that the traits do not list
// error: the hook for Stopped is void on(Stopped) noexcept
// error: the traits list an event in .hears = events<...> that is not sent to such a class
// error: there is a member with a name of the contract that the traits do not list
// error: the traits list a member in .has that is not there, not public
// error: a class with members names those that hold state
// error: a source is copied for each replica
// error: the class is not final
#include <cstdint>
#include <memory>
#include <tuple>

#include "numbers.hpp"

using namespace strid;

struct One {
    using record_type = int;
    SourceStatus poll(auto& emit, std::size_t) {
        emit(1);
        return SourceStatus::finished;
    }
};

#ifdef STRID_MUST_NOT_COMPILE

struct NoStatus {
    using record_type = int;
    void poll(auto&, std::size_t) {}
};
struct DeclaresNothing : One {
    static constexpr SourceTraits traits{};
};
struct MisspeltHook : One {
    static constexpr SourceTraits traits{.hears = events<Opened>};
    void opn(const Opened&) {}
};
struct Undeclared : One {
    static constexpr SourceTraits traits{.hears = events<>};
    void on(const Opened&) {}
};
struct MayThrow : One {
    static constexpr SourceTraits traits{.hears = events<Stopped>};
    void on(Stopped) {}
};
struct OfAnOperator : One {
    static constexpr SourceTraits traits{.hears = events<Ended>};
};
struct UndeclaredWake : One {
    static constexpr SourceTraits traits{.hears = events<>};
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
};
struct MisspeltWake : One {
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    [[nodiscard]] static std::int64_t wake_at() { return 0; }
};
struct NoState : One {
    static constexpr SourceTraits traits{.hears = events<>};
    int next = 0;
};
struct NotCopied : One {
    static constexpr SourceTraits traits{.hears = events<>, .stateless = true};
    std::unique_ptr<int> one;
};
struct Final final : One {
    static constexpr SourceTraits traits{.hears = events<>};
};

void build(Graph& graph) {
    graph.source(NoStatus{});
    graph.source(One{});
    graph.source(DeclaresNothing{});
    graph.source(MisspeltHook{});
    graph.source(Undeclared{});
    graph.source(MayThrow{});
    graph.source(OfAnOperator{});
    graph.source(UndeclaredWake{});
    graph.source(MisspeltWake{});
    graph.source(NoState{});
    graph.source(NotCopied{});
    graph.source(Final{});
}

#else

struct Right : One {
    static constexpr SourceTraits traits{.hears = events<Opened, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks};
    void on(const Opened&) {}
    void on(Stopped) noexcept {}
    [[nodiscard]] static std::int64_t wake_at_ns() { return 0; }
    [[nodiscard]] static bool blocks() { return false; }
    auto state() { return std::tie(next); }
    int next = 0;
};

void build(Graph& graph) {
    graph.source(Right{}).sink([](int) {});
}

#endif
