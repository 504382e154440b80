// SPDX-License-Identifier: Apache-2.0
//
// A map takes the records that arrive, and no others.
// expect: MapFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).map([](const std::string& text) { return text; }).sink([](auto&&) {});
#else
    graph.source(Numbers{}).map([](int number) { return number; }).sink([](auto&&) {});
#endif
}
