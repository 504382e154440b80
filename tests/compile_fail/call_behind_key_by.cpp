// SPDX-License-Identifier: Apache-2.0
//
// `call` behind `key_by`: the error names the place where it belongs.
// error: call stands before key_by
#include "numbers.hpp"

void build(strid::Graph& graph) {
    const auto ask = [](const int& number) { return number + 1; };
    const auto parity = [](const int& number) { return number % 2; };
    const auto add = [](const int& sum, const int& number) { return sum + number; };
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).key_by(parity).call(ask, {.in_flight = 4});
    (void)add;
#else
    graph.source(Numbers{}).call(ask, {.in_flight = 4}).key_by(parity).reduce(add).sink([](int) {});
#endif
}
