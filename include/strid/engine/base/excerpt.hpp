// SPDX-License-Identifier: Apache-2.0
//
// Text from outside, in a form that is safe to print. Every message that quotes input, a name or an
// option uses it, because a terminal obeys the control characters that it receives.
// Stateless; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strid {

/// The beginning of `text` for a message: at most `bytes_max` bytes of it, never a part of a UTF-8
/// character, with "..." behind it if it was cut. Bytes are written as \xNN if they belong to a
/// control character (also U+0080 to U+009F, which terminals obey), to a character that is
/// invisible or changes the direction of writing, or if they are not UTF-8.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t bytes_max = 40);

}  // namespace strid
