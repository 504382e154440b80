// SPDX-License-Identifier: Apache-2.0
#include "output_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/file_use.hpp>
#include <strid/connector/transport.hpp>
#include <strid/program/arguments.hpp>

namespace strid::tool {

void add_write_option(CLI::App& command, Writing& writing) {
    add_choice<Writing>(
        command, "--write", writing, {{"whole", Writing::whole}, {"live", Writing::live}},
        "whole: a file of rows gets its name at the end, and is as it was before\nif the run fails "
        "(default). live: written from the start, for `tail -f`");
}

void add_output_format_option(CLI::App& command, RowFormat& format) {
    add_choice<RowFormat>(
        command, "--output-format", format,
        {{"csv", RowFormat::csv}, {"json", RowFormat::json_lines}},
        "csv: rows with a header (default). json: an object in each line, with the\nnames of the "
        "columns; a field that is a number, true or false is one, an\nempty field is null");
}

void report_where_rows_are(const std::string& input, const std::string& output, Writing writing,
                           bool quiet) {
    if (quiet || writing == Writing::live || output.empty() || output == "-") return;
    if (is_transport_address(output)) return;
    if (::isatty(STDERR_FILENO) != 1 || !file_may_block(input, StandardStream::input)) return;
    struct stat status {};
    if (::stat(output.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
    const auto place = find_place(output);
    if (!place || place->descriptor >= 0) return;
    write_to_stderr(
        fmt::format("strid: rows are in {} until the run ends; --write live writes "
                    "them to {} at once\n",
                    place->beside(temporary_pattern(place->name)), output));
}

}  // namespace strid::tool
