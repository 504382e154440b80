// SPDX-License-Identifier: Apache-2.0
//
// Compresses one file: cuts it into blocks, each of which becomes a stream of its own, as pbzip2
// does. The bytes that leave do not depend on the number of workers. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "block_line.hpp"
#include "input.hpp"
#include "output.hpp"

namespace strid::compress {

/// Called now and then, with the bytes of the input that were read.
using OnProgress = std::function<void(std::uint64_t)>;

/// Throws InputOutputError, OperatorError, Interrupted; the line then has to discard what is in it.
void pack(Input& input, Output& output, BlockLine& line, int level, const OnProgress& on_progress);

}  // namespace strid::compress
