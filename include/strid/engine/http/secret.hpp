// SPDX-License-Identifier: Apache-2.0
//
// Secrets in requests. Pure functions, any thread.
#pragma once

#include <string_view>

#include <strid/engine/http/http_text.hpp>

namespace strid::http {

/// Whether two texts are the same, in a time that depends on the size of `given` alone.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

/// Whether the request has `Authorization: Bearer SECRET`.
[[nodiscard]] bool has_bearer(const HttpRequest& request, std::string_view secret) noexcept;

}  // namespace strid::http
