// SPDX-License-Identifier: Apache-2.0
//
// A filter answers with something that is true or false; the concept says so by its name.
// expect: FilterFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).filter([](int) { return std::string{"yes"}; }).sink([](int) {});
#else
    graph.source(Numbers{}).filter([](int) { return true; }).sink([](int) {});
#endif
}
