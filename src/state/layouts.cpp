// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/state/layouts.hpp>

namespace strid::state {

void Layouts::add_aggregate(const std::string& name,
                            const std::vector<const std::string*>& members) {
    text_ += ' ' + name;
    for (std::size_t i = 0; i != members.size(); ++i) text_ += (i == 0 ? "{" : ", ") + *members[i];
    text_ += '}';
}

}  // namespace strid::state
