// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/base/json_text.hpp>

namespace strid {

std::string json_text(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            result += c;
        }
    }
    return result + '"';
}

}  // namespace strid
