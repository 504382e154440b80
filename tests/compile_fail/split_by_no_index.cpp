// SPDX-License-Identifier: Apache-2.0
//
// A split function names branches by their indices.
// expect: SplitFunction
#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    (void)graph.source(Numbers{}).split(2, [](int number) { return number * 0.5; });
#else
    (void)graph.source(Numbers{}).split(2, [](int number) { return number % 2; });
#endif
}
