// SPDX-License-Identifier: Apache-2.0
//
// Where late rows are written as they stood in the input (table_writers.hpp).
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace strid::tool {

/// Where late rows are written. The source stores the header of CSV before its first row, so it is
/// there for every row. The replicas that write use the flag to decide which of them writes the
/// header, before any row.
struct LateFile {
    explicit LateFile(std::string path_of_file) : path(std::move(path_of_file)) {}

    const std::string path;
    std::string header;  // with its newline; empty where there is none
    std::once_flag header_written;
};

}  // namespace strid::tool
