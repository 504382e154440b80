// SPDX-License-Identifier: Apache-2.0
//
// A stream is consumed once: the message says how to read it twice.
// error: a stream is consumed once: write std::move(stream).map(...), and to read one twice: auto
// error: a stream is consumed once
// error: a stream is consumed once
// error: a stream is consumed once
#include "numbers.hpp"

void build(strid::Graph& graph) {
    auto stream = graph.source(Numbers{});
    auto keyed = graph.source(Numbers{}).key_by([](int number) { return number; });
#ifdef STRID_MUST_NOT_COMPILE
    stream.sink([](int) {});
    stream.map([](int number) { return number; }, {.name = "map"});
    stream.key_by([](int number) { return number; });
    keyed.reduce([](int a, int b) { return a + b; });
#else
    auto [first, second] = std::move(stream).tee<2>();
    std::move(first).sink([](int) {});
    std::move(second).map([](int number) { return number; }, {.name = "map"});
    std::move(keyed).reduce([](int a, int b) { return a + b; });
#endif
}
