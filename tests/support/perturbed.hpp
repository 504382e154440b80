// SPDX-License-Identifier: Apache-2.0
//
// Whether this is a perturbed build: one that sends a few records at a time and runs out of blocks
// on purpose. Tests there take fewer records, and do not count allocations.
#pragma once

namespace strid::test {

#ifdef STRID_PERTURB
inline constexpr bool perturbed = true;
#else
inline constexpr bool perturbed = false;
#endif

}  // namespace strid::test
