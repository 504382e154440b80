// SPDX-License-Identifier: Apache-2.0
//
// Each branch of a split is consumed once: there is no second set of them.
// error: deleted
#include "numbers.hpp"

void build(strid::Graph& graph) {
    auto branches = graph.source(Numbers{}).split(2, [](int number) { return number % 2; });
#ifdef STRID_MUST_NOT_COMPILE
    auto others = branches;
#else
    auto others = std::move(branches);
#endif
    others.select(0).sink([](int) {});
}
