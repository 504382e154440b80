// SPDX-License-Identifier: Apache-2.0
//
// The file of `strid serve`: the options of `strid window`, one in each line. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strid::tool {

/// An option of the file: NAME = VALUE, or NAME alone.
struct ServeOption {
    std::string name;
    std::optional<std::string> value;
};

/// The options of a file. Throws InputOutputError where it cannot be read, GraphError with the line
/// for one that is none.
[[nodiscard]] std::vector<ServeOption> read_serve_options(const std::string& path);

/// The command line that they stand for.
[[nodiscard]] std::vector<std::string> words_of(const std::vector<ServeOption>& options);

}  // namespace strid::tool
