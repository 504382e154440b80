// SPDX-License-Identifier: Apache-2.0
//
// The names of files before and after, by the rules of bzip2. Functions without state; any thread.
#pragma once

#include <string>
#include <string_view>

#include "block.hpp"

namespace strid::compress {

/// ".bz2", ".bz", ".tbz2", ".tbz" where `path` ends in one of them; else empty.
[[nodiscard]] std::string_view compressed_suffix(std::string_view path) noexcept;

/// The file that `path` becomes: NAME.bz2; NAME of NAME.bz2 and NAME.bz, NAME.tar of NAME.tbz2 and
/// NAME.tbz, and NAME.out of any other.
[[nodiscard]] std::string output_name(const std::string& path, Direction direction);

}  // namespace strid::compress
