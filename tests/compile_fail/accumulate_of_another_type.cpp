// SPDX-License-Identifier: Apache-2.0
//
// An accumulation folds the records that arrive into its state, and no others.
// expect: FoldFunction
#include <string>

#include "numbers.hpp"

void build(strid::Graph& graph) {
    auto stream = graph.source(Numbers{}).key_by([](int n) { return n % 7; });
#ifdef STRID_MUST_NOT_COMPILE
    std::move(stream).accumulate(0, [](int&, const std::string&) {}).sink([](auto&&) {});
#else
    std::move(stream).accumulate(0, [](int& sum, int n) { sum += n; }).sink([](auto&&) {});
#endif
}
