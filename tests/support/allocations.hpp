// SPDX-License-Identifier: Apache-2.0
//
// How often a program has asked for memory, and how much is out, and a request that fails: where
// one of its files includes counting_new.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace strid::test {

inline std::atomic<std::uint64_t> allocations{0};
inline std::atomic<std::int64_t> live_bytes{0};  // as the allocator rounds them
/// Requests of this thread that are granted before one fails. -1: none fails, as afterwards.
inline thread_local std::int64_t granted_before_failure = -1;

}  // namespace strid::test
