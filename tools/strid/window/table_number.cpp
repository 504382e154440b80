// SPDX-License-Identifier: Apache-2.0
#include "table_number.hpp"

#include <algorithm>

namespace strid::tool {

bool without_thousands(std::string_view text, std::span<const std::string> separators,
                       std::string& number) {
    constexpr std::size_t group_digits = 3;
    text = detail::trimmed(text);
    number.clear();
    std::size_t groups = 0;
    std::size_t digits = 0;  // behind the last separator
    if (text.starts_with('-') || text.starts_with('+')) {
        number += text.front();
        text.remove_prefix(1);
    }
    for (;;) {
        const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
        number += text.substr(0, end);
        digits = end;
        text.remove_prefix(end);
        const auto separator = std::ranges::find_if(
            separators, [text](const std::string& one) { return text.starts_with(one); });
        if (separator == separators.end()) break;
        // 1,234,567 and, as in India, 12,34,567.
        const std::size_t digits_min = groups == 0 ? 1 : group_digits - 1;
        if (digits < digits_min || digits > group_digits) return false;
        ++groups;
        text.remove_prefix(separator->size());
    }
    if (groups == 0 || digits != group_digits) return false;
    number += text;
    return true;
}

}  // namespace strid::tool
