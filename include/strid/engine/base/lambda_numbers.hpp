// SPDX-License-Identifier: Apache-2.0
//
// Names of types across programs. Pure function, any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace strid::detail {

/// The name of a type without the numbers of the lambdas in it: one lambda more in front of them
/// makes no other type of a state.
[[nodiscard]] inline std::string without_lambda_numbers(std::string_view type) {
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
