// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/base/lambda_numbers.hpp>
#include <strid/engine/state/layouts.hpp>

namespace strid::state {

std::string Layouts::layout(const std::string& name,
                            const std::vector<const std::string*>& members) {
    std::string text = ' ' + name;
    for (std::size_t i = 0; i != members.size(); ++i) text += (i == 0 ? "{" : ", ") + *members[i];
    return strid::detail::without_lambda_numbers(text + '}');
}

void Layouts::add_bytes(const std::string& name, std::size_t bytes) {
    text_ +=
        ' ' + strid::detail::without_lambda_numbers(name) + '{' + std::to_string(bytes) + " bytes}";
}

}  // namespace strid::state
