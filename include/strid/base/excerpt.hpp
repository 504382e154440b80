// SPDX-License-Identifier: Apache-2.0
//
// Bytes that came from outside, as an error message may show them. Every message that quotes input,
// a name or an option goes through here: a terminal obeys the control characters it is sent.
// Stateless; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strid {

/// The beginning of `text` for a message, at most `bytes_max` bytes of it and never a part of a
/// character of UTF-8; "..." follows where something was left out. Written as \xNN are the bytes of
/// control characters (also those of U+0080 to U+009F, which terminals obey), of characters that
/// are invisible or turn the direction of writing, and whatever is not UTF-8.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t bytes_max = 40);

}  // namespace strid
