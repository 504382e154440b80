// SPDX-License-Identifier: Apache-2.0
//
// The call stacks of requests, which are sampled by bytes and added up by stack, and the files that
// their code is in. They are in the process's file, as all counts.
#pragma once

#include <cstdint>

#include "process.hpp"

namespace strid::trace {

/// Whether the session asks for stacks and the unwinder is loaded.
[[nodiscard]] bool has_stacks();

/// From 1 to twice the period, in bytes.
[[nodiscard]] std::uint64_t next_stack_distance(ThreadState& state);

/// Adds to the counts of the calling stack. Under `is_busy`, without Process::lock.
void keep_stack(std::uint64_t bytes, double calls);

}  // namespace strid::trace
