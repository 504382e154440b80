// SPDX-License-Identifier: Apache-2.0
//
// A source file whose graphs are all to take snapshots: a state without a codec does not compile,
// nor an operator or a source whose records cannot be had once more; the compiler names the type.
// Records that a journal or an outlet by epoch keeps have a codec, too.
// error: requires_snapshots: a part of the state of an operator has no codec
// error: requires_snapshots: this operator takes no snapshots
// error: the records of a journalled inlet have a codec
// error: the records of an outlet by epoch have a codec
// error: merge_state(const Mine& other) and void split_state(StateShare share)
// expect: HandleOfAnotherProcess
#include <memory>
#include <tuple>

#include <strid/strid.hpp>

#include "numbers.hpp"

template <>
inline constexpr bool strid::requires_snapshots<> = true;

struct HandleOfAnotherProcess {
    int* at = nullptr;
};
#ifdef STRID_MUST_NOT_COMPILE
using Handle = HandleOfAnotherProcess;
#else
using Handle = int;
#endif

struct Counts {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    int operator()(int number) { return number; }
    auto state() { return std::tie(handle); }
    Handle handle = {};
};
struct Merges {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    int operator()(int number) { return number; }
    auto state() { return std::tie(count); }
    void merge_state(const Merges& other) { count += other.count; }
#ifndef STRID_MUST_NOT_COMPILE
    void split_state(strid::StateShare share) { count = share.replica == 0 ? count : 0; }
#endif
    int count = 0;
};

void build(strid::Graph& graph) {
    graph.source(Numbers{}).map(Counts{}).sink([](int) {});
    graph.source(Numbers{}).map(Merges{});
#ifdef STRID_MUST_NOT_COMPILE
    graph.inlet<int>().second.sink([](int) {});
#endif
    (void)graph.journalled_inlet<Handle>({.folder = "journal"});
    (void)graph.source(Numbers{}).map([](int) { return Handle{}; }).epoch_outlet();
}
