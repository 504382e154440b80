// SPDX-License-Identifier: Apache-2.0
//
// Standard error and the log that stands in its place (base/log.hpp).
#pragma once

#include <string_view>

namespace strid {

/// False where not all of it could be written. Waits where the descriptor would block.
bool write_all(int descriptor, std::string_view text) noexcept;

/// Gives a sentence for the user to the log, nothing where it is empty; false where there is no
/// log, or where it has failed.
bool log_sentence(std::string_view text) noexcept;

}  // namespace strid
