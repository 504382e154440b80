// SPDX-License-Identifier: Apache-2.0
//
// How the kernel says what may be done at once without a thread of its own: it hands blocks of work
// to a loop that its caller brings, a plain one or a parallel one.
//
// Invariant: no block depends on another one of the same loop, so that the results are the same in
// any order. An exception of a block ends the loop and reaches the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace strid::denoise {

using Block = std::function<void(std::size_t number)>;
/// Calls `block(i)` for each i of [0, blocks), in any order, and returns when all are done.
using Loop = std::function<void(std::size_t blocks, const Block& block)>;

inline void run_in_sequence(std::size_t blocks, const Block& block) {
    for (std::size_t i = 0; i < blocks; ++i) block(i);
}

/// `part(begin, end)` for parts of `step` (the last one: of what is left) that make up [0, size).
template <class Part>
void for_parts(const Loop& loop, std::size_t size, std::size_t step, Part&& part) {
    loop((size + step - 1) / step,
         [&](std::size_t number) { part(number * step, std::min(size, (number + 1) * step)); });
}

}  // namespace strid::denoise
