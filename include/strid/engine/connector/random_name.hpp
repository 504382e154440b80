// SPDX-License-Identifier: Apache-2.0
//
// Names that no other process has. Any thread.
#pragma once

#include <string>

namespace strid::detail {

/// 128 random bits of the system, as 32 hexadecimal digits. Throws InputOutputError.
[[nodiscard]] std::string random_name();

}  // namespace strid::detail
