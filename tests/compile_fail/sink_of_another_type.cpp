// SPDX-License-Identifier: Apache-2.0
//
// A sink takes the records that arrive, and no others.
// expect: SinkFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).sink([](const std::string&) {});
#else
    graph.source(Numbers{}).sink([](int) {});
#endif
}
