// SPDX-License-Identifier: Apache-2.0
//
// A stream is consumed once: its functions take it as an rvalue.
// expect: discards
#include "numbers.hpp"

void build(strid::Graph& graph) {
    auto stream = graph.source(Numbers{});
#ifdef STRID_MUST_NOT_COMPILE
    stream.sink([](int) {});
#else
    std::move(stream).sink([](int) {});
#endif
}
