// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <strings.h>

#include <strid/engine/http/secret.hpp>

namespace strid::http {

bool is_same_secret(std::string_view given, std::string_view secret) noexcept {
    if (secret.empty()) return false;
    volatile unsigned difference = given.size() == secret.size() ? 0U : 1U;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto wanted = static_cast<unsigned char>(secret[i % secret.size()]);
        difference = difference | (static_cast<unsigned char>(given[i]) ^ wanted);
    }
    return difference == 0;
}

bool has_bearer(const HttpRequest& request, std::string_view secret) noexcept {
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view given = request.header("authorization");
    return given.size() > scheme.size() &&
           ::strncasecmp(given.data(), scheme.data(), scheme.size()) == 0 &&
           is_same_secret(given.substr(scheme.size()), secret);
}

}  // namespace strid::http
