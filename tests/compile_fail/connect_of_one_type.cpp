// SPDX-License-Identifier: Apache-2.0
//
// Streams, keys and functions that `connect` cannot take: the first line states what is required.
// error: connect needs streams of two types
// error: two streams are joined by keys of one type
// error: connect(...).process<U> needs a function F of the records of both sides
// error: a function F that takes Timers has a public void on_timer(EventTime, Timers&, auto& emit)
// error: join, as_of and connect consume their streams
#include <string>
#include <utility>

#include <strid/stream/connect.hpp>

#include "numbers.hpp"

struct Name {
    int number;
    std::string text;
};

constexpr auto itself = [](int number) { return number; };

/// Lacks a call for names.
struct OfNumbers {
    void operator()(const int&, strid::Timers&, strid::Emitter<int>&) {}
};
struct OfBoth {
    void operator()(const int&, strid::Timers&, strid::Emitter<int>&) {}
    void operator()(const Name&, strid::Timers&, strid::Emitter<int>&) {}
};
struct SetsNone : OfBoth {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>, .sets_no_timers = true};
};
/// Its timers take the emitter of another function.
struct Deaf : OfBoth {
    void on_timer(strid::EventTime, strid::Timers&, strid::Emitter<std::string>&) {}
};
struct Alarm : OfBoth {
    void on_timer(strid::EventTime, strid::Timers&, strid::Emitter<int>&) {}
};

void build(strid::Graph& graph) {
    const auto numbers = [&graph] { return graph.source(Numbers{}); };
    const auto names = [&graph] {
        return graph.source(Numbers{}).map([](int number) { return Name{number, "name"}; });
    };
    using strid::field;
    using strid::on;
    auto rest = names();
#ifdef STRID_MUST_NOT_COMPILE
    (void)connect(numbers(), numbers(), on(itself));
    (void)connect(numbers(), names(), on(itself, field<&Name::text>));
    (void)connect(numbers(), names(), on(itself, field<&Name::number>)).process<int>(OfNumbers{});
    (void)connect(numbers(), names(), on(itself, field<&Name::number>)).process<int>(Deaf{});
    (void)connect(numbers(), rest, on(itself, field<&Name::number>));
#else
    (void)connect(numbers(), names(), on(itself, field<&Name::number>)).process<int>(SetsNone{});
    (void)connect(numbers(), std::move(rest), on(itself, field<&Name::number>))
        .process<int>(Alarm{});
#endif
}
