// SPDX-License-Identifier: Apache-2.0
//
// Loops in a graph: `stream.iterate(body)`, where the body is a pattern whose last nodes may send a
// record through it once more (pattern/composition.hpp). A header of its own, because it includes
// the patterns.
//
//     std::move(ranges).iterate(farm(node<int>([](Range range, auto& emit) {
//         if (is_long(range)) return divide(range, [&](Range half) { emit.again(half); });
//         emit(count(range));
//     })))
//
// Threads: as Stream.
#pragma once

#include <utility>

#include <strid/pattern/pattern_operator.hpp>
#include <strid/stream/stream.hpp>

namespace strid {

/// Sends records through a loop: `body` is a pattern whose last nodes may send a record through it
/// once more (pattern/composition.hpp).
template <class T, class Head, class... Operators, class Time>
template <class Body>
auto Stream<T, graph::Chain<Head, Operators...>, Time>::iterate(Body body,
                                                                const OperatorOptions& options) && {
    return std::move(*this).apply(pattern::pattern_operator(pattern::iterate(std::move(body))),
                                  options);
}

}  // namespace strid
