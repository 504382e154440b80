// SPDX-License-Identifier: Apache-2.0
//
// A function that is to change a record or a state, and takes it as a copy or a constant, would
// leave it as it is.
// error: map would do nothing
// error: map would do nothing
// error: map would do nothing
// error: map would do nothing
// error: map would do nothing
// error: map would do nothing
// error: the fold would do nothing
// error: the fold would do nothing
// error: the fold would do nothing
#include <functional>

#include <strid/window/aggregates/fold.hpp>

#include "numbers.hpp"

struct Reading {
    int x;
    void look() const {}
    void halve() { x /= 2; }
};

#ifdef STRID_MUST_NOT_COMPILE
#define UNCHANGED const
#define REFERENCE
#else
#define UNCHANGED
#define REFERENCE &
#endif

void build(strid::Graph& graph) {
    const auto readings = [&] {
        return graph.source(Numbers{}).map([](int number) { return Reading{number}; });
    };
    const auto keyed = [&] { return graph.source(Numbers{}).key_by([](int n) { return n % 7; }); };
    readings().map([](Reading REFERENCE r) { r.x += 1; });
    readings().map([](UNCHANGED Reading&) {});
    readings().map([](auto REFERENCE r, const strid::Context&) { r.x += 1; });
    readings().key_by<&Reading::x>().map([n = 0](Reading REFERENCE r) mutable { r.x += n++; });
    readings().map(std::function<void(UNCHANGED Reading&)>{});
    keyed().accumulate(0, [](int REFERENCE sum, int n) { return sum += n; });
    keyed().accumulate(0.0, [](UNCHANGED double& sum, int n) { return sum + n; });
    (void)strid::window::fold<int>(0, [](int REFERENCE sum, int n) { return sum += n; });
#ifdef STRID_MUST_NOT_COMPILE
    readings().map(&Reading::look);
#else
    readings().map(&Reading::halve);
    readings().map([](auto&& r) { r.x += 1; });
    // The target of a pointer is changed.
    graph.source(Numbers{})
        .map([](int number) { return std::make_shared<Reading>(number); })
        .map([](std::shared_ptr<Reading> r) { r->x += 1; });
#endif
}
