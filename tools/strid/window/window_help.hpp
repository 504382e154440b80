// SPDX-License-Identifier: Apache-2.0
//
// The text of `strid window --help` besides the options. One thread.
#pragma once

#include <string>

namespace strid::tool {

[[nodiscard]] std::string window_description();
[[nodiscard]] std::string window_footer();

}  // namespace strid::tool
