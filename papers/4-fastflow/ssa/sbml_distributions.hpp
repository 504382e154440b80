// SPDX-License-Identifier: Apache-2.0
//
// The symbols of the package distrib, which libSBML of Debian 12 does not know: calls of functions
// take their place in the text before it is parsed. Functions without state; any thread.
#pragma once

#include <string>

namespace strid::ssa {

/// Begins the names of these functions; that of the distribution follows.
inline constexpr const char* distribution_prefix = "strid_distribution_";

/// The text with each `csymbol` of a distribution as a `ci`, on the same line, and the package
/// marked as one that is not required. O(text).
[[nodiscard]] std::string with_distributions_named(const std::string& text);

}  // namespace strid::ssa
