// SPDX-License-Identifier: Apache-2.0
//
// How often a program has asked for memory, and how much is out: counted where one of its files
// includes counting_new.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace strid::test {

inline std::atomic<std::uint64_t> allocations{0};
inline std::atomic<std::int64_t> live_bytes{0};  // as the allocator rounds them

}  // namespace strid::test
