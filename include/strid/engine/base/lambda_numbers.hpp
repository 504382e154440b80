// SPDX-License-Identifier: Apache-2.0
//
// Names of types across programs. Pure function, any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid::detail {

/// The name of a type without the numbers of the lambdas in it: one lambda more in front of them
/// makes no other type of a state.
[[nodiscard]] std::string without_lambda_numbers(std::string_view type);

}  // namespace strid::detail
