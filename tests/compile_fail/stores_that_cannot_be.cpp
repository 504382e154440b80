// SPDX-License-Identifier: Apache-2.0
//
// State by key in a store (operator/stored_keys.hpp) that has no codec, or that is no state by key.
// error: keep_in_memory: the key, or the state of a key, has no codec
// error: keep_in_memory: the key, or the state of a key, has no codec
// error: is for map, filter, flat_map, accumulate and reduce: windows and process forget keys by
// error: process behind keep_in_memory needs <strid/window/stored_process.hpp>
#include <memory>

#include <strid/operator/stored_keys.hpp>
#include <strid/window/aggregates.hpp>

#include "numbers.hpp"

struct Pointing {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    const int* last = nullptr;
    auto state() { return std::tie(last); }
    int operator()(int number) { return number; }
};
struct Counting {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    int count = 0;
    int operator()(int) { return ++count; }
};
struct Alarm {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    int count = 0;
    void operator()(int number, strid::Timers& timers, auto& emit) {
        timers.at(strid::EventTime{});
        emit(number);
    }
    void on_timer(strid::EventTime, strid::Timers&, auto&) { ++count; }
};

void build(strid::Graph& graph, const std::shared_ptr<strid::ColdStores>& stores) {
    const auto same = [](int number) { return number; };
    const auto keyed = [&] {
        return graph.source(Numbers{}).key_by(same, strid::keep_in_memory(1 << 20, stores));
    };
#ifdef STRID_MUST_NOT_COMPILE
    keyed().map(Pointing{});
    keyed().accumulate(static_cast<const int*>(nullptr), [](const int*& last, int) { last = {}; });
    keyed().window(strid::window::CountWindows::tumbling(10), strid::window::count());
    keyed().process<int>(Alarm{});
#else
    keyed().map(Counting{}).sink([](int) {});
    keyed().accumulate(0, [](int& sum, int number) { sum += number; }).sink([](const auto&) {});
#endif
}
