// SPDX-License-Identifier: Apache-2.0
//
// The place of an address, and the files below it that are read. Plain functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include <strid/connector/transport.hpp>

namespace strid::parquet {

/// A value that stands in the path of a file, `NAME=VALUE/`; none: it is null.
using PathValue = std::pair<std::string, std::optional<std::string>>;

struct InputFile {
    std::string path;
    std::vector<PathValue> values = {};  ///< In the order of the path.
};

/// The folder of a null value.
constexpr std::string_view null_folder = "__HIVE_DEFAULT_PARTITION__";

/// The path. Throws GraphError where the address has none, or one of another machine.
[[nodiscard]] std::string path_of(const TransportAddress& address);

/// The file, or all of a folder, in the order of their paths. Hidden ones, which begin with a point
/// or an underscore, are no part of it. Throws InputOutputError.
[[nodiscard]] std::vector<InputFile> files_at(const std::string& path);

/// `a,"b,c"`: the parts of an option that is a list.
[[nodiscard]] std::vector<std::string> names_of_list(const std::string& list);

[[nodiscard]] bool is_arrow_file(std::string_view path) noexcept;

/// A text as a part of a path: without slashes, percent signs and control characters.
[[nodiscard]] std::string path_part(std::string_view text);
/// The text of such a part.
[[nodiscard]] std::string text_of_part(std::string_view part);

/// The sentence of a number of the system.
[[nodiscard]] std::string reason_of_error(int error);
/// The sentence of a status, in one line.
[[nodiscard]] std::string reason_of_status(const arrow::Status& status);
/// Throws InputOutputError, which begins with the path.
[[noreturn]] void fail(const std::string& path, const arrow::Status& status);
inline void check(const std::string& path, const arrow::Status& status) {
    if (!status.ok()) fail(path, status);
}
template <class Value>
[[nodiscard]] Value checked(const std::string& path, arrow::Result<Value> result) {
    if (!result.ok()) fail(path, result.status());
    return std::move(result).ValueUnsafe();
}

}  // namespace strid::parquet
