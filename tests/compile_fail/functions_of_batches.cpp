// SPDX-License-Identifier: Apache-2.0
//
// Functions of several records take two spans, and give a result for each record.
// error: map_batch<U> needs a function F of the records T that arrive and of their results
// error: map_batch<U> needs a function F of the records T that arrive and of their results
// error: map_batch<U> needs results U that can be made without arguments
// error: filter_batch needs a function F of the records T that arrive and of the choice
// error: a function whose call changes it names its state
#include <cstddef>
#include <span>
#include <vector>

#include "numbers.hpp"

struct Made {
    Made() = default;
    explicit Made(int) {}
};
struct MadeOfOne {
    explicit MadeOfOne(int) {}
};

#ifdef STRID_MUST_NOT_COMPILE
#define CONST
#define RESULT float
#define NO_DEFAULT MadeOfOne
#define KEEP std::vector<bool>&
#define STATE std::vector<int>
#else
#define CONST const
#define RESULT int
#define NO_DEFAULT Made
#define KEEP std::span<bool>
#define STATE int
#endif

void build(strid::Graph& graph) {
    const auto numbers = [&] { return graph.source(Numbers{}); };
    numbers().map_batch<int>([](std::span<CONST int>, std::span<int>) {});
    numbers().map_batch<int>([](std::span<const int>, std::span<RESULT>) {});
    numbers().map_batch<NO_DEFAULT>([](std::span<const int>, std::span<NO_DEFAULT>) {});
    numbers().filter_batch([](std::span<const int>, KEEP) {});
    numbers().map_batch<int>(
        [seen = STATE{}](std::span<const int>, std::span<int>) mutable { seen = {}; });
}
