// SPDX-License-Identifier: Apache-2.0
//
// What a reduce makes of two records is a record of the same type.
// expect: ReduceFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
    auto stream = graph.source(Numbers{}).key_by([](int n) { return n % 7; });
#ifdef STRID_MUST_NOT_COMPILE
    std::move(stream).reduce([](int, int) { return std::string{}; }).sink([](int) {});
#else
    std::move(stream).reduce([](int a, int b) { return a + b; }).sink([](int) {});
#endif
}
