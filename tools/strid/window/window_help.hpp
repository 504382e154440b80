// SPDX-License-Identifier: Apache-2.0
//
// What `strid window --help` says besides the options. One thread.
#pragma once

#include <string>

namespace strid::tool {

[[nodiscard]] std::string window_description();
[[nodiscard]] std::string window_footer();

}  // namespace strid::tool
