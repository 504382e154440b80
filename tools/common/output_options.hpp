// SPDX-License-Identifier: Apache-2.0
//
// The options about files that `run` and `window` share. Functions without state; one thread.
#pragma once

#include <string>

#include <strid/base/destination.hpp>
#include <strid/connector/row_output.hpp>

namespace CLI {
class App;
}

namespace strid::tool {

/// --write whole|live.
void add_write_option(CLI::App& command, Writing& writing);
/// --output-format: CSV or lines of JSON.
void add_output_format_option(CLI::App& command, RowFormat& format);

/// On a terminal, where a live input goes to a file that is there at the end only: where its rows
/// are meanwhile.
void report_where_rows_are(const std::string& input, const std::string& output, Writing writing,
                           bool quiet);

}  // namespace strid::tool
