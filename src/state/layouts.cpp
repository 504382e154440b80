// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/engine/base/lambda_numbers.hpp>
#include <strid/engine/state/layouts.hpp>

namespace strid::state {

void StoredVersions::set(const std::type_info& type, std::size_t version) {
    for (Stored& stored : versions_) {
        if (*stored.type != type) continue;
        stored.version = version;
        return;
    }
    versions_.push_back({&type, version});
}

std::size_t StoredVersions::of(const std::type_info& type) const {
    const auto found = std::find_if(versions_.begin(), versions_.end(),
                                    [&](const Stored& stored) { return *stored.type == type; });
    return found == versions_.end() ? 0 : found->version;
}

bool Layouts::is_met(const std::type_info& type) {
    const bool is_known =
        std::any_of(met_.begin(), met_.end(), [&](const auto* known) { return *known == type; });
    if (!is_known) met_.push_back(&type);
    return is_known;
}

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
