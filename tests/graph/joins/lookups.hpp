// SPDX-License-Identifier: Apache-2.0
//
// The tables and keys that the tests of lookups share.
#pragma once

#include <cstdint>

#include <strid/strid.hpp>

namespace strid::test {

using NumberTable = LookupTable<std::uint64_t, std::uint64_t>;

/// A key below 1,000.
inline std::uint64_t key_of_number(const std::uint64_t& number) {
    return number * 7919 % 1'000;
}

}  // namespace strid::test
