// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/state/layouts.hpp>

namespace strid::state {

void Layouts::add_aggregate(const std::string& name,
                            const std::vector<const std::string*>& members) {
    text_ += ' ' + name + '{';
    for (const std::string* const member : members) {
        if (member != members.front()) text_ += ", ";
        text_ += *member;
    }
    text_ += '}';
}

}  // namespace strid::state
