// SPDX-License-Identifier: Apache-2.0
//
// A key must be hashable, and the message says what that is.
// expect: key_by: the key must be hashable
#include <vector>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).key_by([](int) { return std::vector<int>{}; }).sink([](int) {});
#else
    graph.source(Numbers{}).key_by([](int number) { return number; }).sink([](int) {});
#endif
}
