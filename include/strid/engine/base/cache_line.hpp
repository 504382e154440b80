// SPDX-License-Identifier: Apache-2.0
//
// The unit of sharing between cores. Data that one thread writes and another reads is laid out in
// whole lines, so that two threads never write the same line by accident (false sharing).
#pragma once

#include <cstddef>

namespace strid {

/// Bytes of one cache line. A constant of our own, because
/// `std::hardware_destructive_interference_size` may differ between two compilers that share a
/// header, which would break the binary interface.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace strid
