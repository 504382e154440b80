// SPDX-License-Identifier: Apache-2.0
//
// A flat_map takes the records that arrive, and no others.
// expect: FlatMapFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).flat_map<int>([](const std::string&, auto&) {}).sink([](int) {});
#else
    graph.source(Numbers{}).flat_map<int>([](int, auto&) {}).sink([](int) {});
#endif
}
