// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <simdjson.h>

#include <strid/engine/base/json_text.hpp>

namespace strid {

std::string json_text(std::string_view text) {
    std::string result = "\"";
    // Bytes of another encoding would make all of the document invalid.
    const bool is_utf8 = simdjson::validate_utf8(text.data(), text.size());
    for (const char c : text) {
        if (!is_utf8 && static_cast<unsigned char>(c) >= 0x80) {
            result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
            continue;
        }
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
