// SPDX-License-Identifier: Apache-2.0
//
// Text in JSON, for reports. A pure function, any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid {

/// The text in quotation marks, with the characters escaped that JSON does not allow. O(size).
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace strid
