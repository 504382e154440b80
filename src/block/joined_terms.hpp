// SPDX-License-Identifier: Apache-2.0
//
// Strings with a separator between them. Private to src/block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strid::block::detail {

inline std::string join(const std::vector<std::string>& texts, std::string_view separator) {
    std::string joined;
    for (const std::string& text : texts) {
        if (!joined.empty()) joined += separator;
        joined += text;
    }
    return joined;
}

}  // namespace strid::block::detail
