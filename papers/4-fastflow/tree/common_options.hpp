// SPDX-License-Identifier: Apache-2.0
//
// Options that several sub-commands have. Plain functions for the thread that parses.
#pragma once

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/program/arguments.hpp>

#include "table_parser.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::tree {

inline void add_delimiter_option(CLI::App& app, char& delimiter) {
    add_text_option(
        app, "--delimiter", "CHARACTER",
        [&delimiter](const std::string& text) {
            if (text != "\\t" && text.size() != 1) {
                throw GraphError("the delimiter is one character, or \\t for a tab");
            }
            delimiter = text == "\\t" ? '\t' : text[0];
            check_csv_delimiter(delimiter);
        },
        "Between the fields of a row (default: ,)");
}

inline void add_missing_option(CLI::App& app, MissingWords& missing) {
    app.add_option("--missing", missing.words,
                   "Words for a missing value (default: ?,NA); an empty field is one always")
        ->type_name("WORD[,WORD]")
        ->delimiter(',')
        ->allow_extra_args(false);
}

inline void add_running_options(CLI::App& app, tool::WorkerOptions& workers, bool& quiet) {
    tool::add_worker_options(app, workers, "Threads (default: one per core)");
    app.add_flag("--quiet", quiet, "No progress line");
}

}  // namespace strid::tree
