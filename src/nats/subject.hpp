// SPDX-License-Identifier: Apache-2.0
//
// Subjects of NATS: tokens with dots between them, `*` for a token, `>` for all that follow. Pure
// functions, any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid::nats {

/// Whether a client may subscribe to it.
[[nodiscard]] bool is_subject(std::string_view text) noexcept;
[[nodiscard]] bool has_wildcards(std::string_view subject) noexcept;
/// Whether there is a subject that matches both.
[[nodiscard]] bool overlap(std::string_view one, std::string_view other) noexcept;
/// Whether a pattern matches all that another one, or a subject, matches.
[[nodiscard]] bool covers(std::string_view pattern, std::string_view other) noexcept;
/// A text as one token: `%XX` for blanks, controls and the characters `.`, `*`, `>`, `%`; `%` alone
/// for no text.
[[nodiscard]] std::string token_of(std::string_view text);

}  // namespace strid::nats
