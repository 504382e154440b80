// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <strid/engine/base/lambda_numbers.hpp>

namespace strid::detail {

std::string without_lambda_numbers(std::string_view type) {
    std::string without;
    while (!type.empty()) {
        const std::size_t number = type.find('#');
        without += type.substr(0, number);
        if (number == std::string_view::npos) break;
        type.remove_prefix(std::min(type.find_first_not_of("0123456789", number + 1), type.size()));
    }
    return without;
}

}  // namespace strid::detail
