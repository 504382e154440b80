// SPDX-License-Identifier: Apache-2.0
//
// Commands that are programs of their own: `strid NAME` runs `strid-NAME`, from the folder of
// `strid` itself or from PATH, as git does. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strid::tool {

/// The file of `strid-NAME`; none where there is none that can be run.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

/// The names of all that can be run, sorted.
[[nodiscard]] std::vector<std::string> program_names();

/// Becomes the program at `path`; `arguments` are those behind its name. Throws InputOutputError.
[[noreturn]] void become(const std::string& path, char** arguments);

}  // namespace strid::tool
