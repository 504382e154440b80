// SPDX-License-Identifier: Apache-2.0
//
// Models as files: the text form (README.md) and SBML (sbml_model.hpp), distinguished by the first
// character that is not blank: SBML begins with '<'. Functions without state; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "network.hpp"

namespace strid::ssa {

/// Reads the file, which may be packed, a pipe or standard input ("-"). Throws InputOutputError
/// with the file and the line.
/// Calls `wait` again and again while it waits for a pipe: what that throws ends the reading.
[[nodiscard]] Network read_model(const std::string& path, const std::function<void()>& wait);

/// The text form. `path` is for messages. Throws InputOutputError.
[[nodiscard]] Network read_text_model(const std::string& path, std::string_view text);

}  // namespace strid::ssa
