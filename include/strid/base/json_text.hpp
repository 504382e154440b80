// SPDX-License-Identifier: Apache-2.0
//
// Text as JSON writes it, for reports. A pure function, any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid {

/// The text in quotation marks, with what JSON does not take as it is escaped. O(size).
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace strid
