// SPDX-License-Identifier: Apache-2.0
//
// The table of the applications, each a program of its own. `strid list` and the help of `strid
// run` print it, and the program of an application finds its row in it. Constants; any thread.
#pragma once

#include <span>
#include <string_view>

namespace strid::apps {

/// A file that an application reads beside its input.
struct SideFile {
    std::string_view option;   ///< Empty: there is none.
    std::string_view help;     ///< Of the option.
    std::string_view example;  ///< Named where the file is missing; empty: it may be left out.
};

/// A row of the table.
struct ApplicationFacts {
    std::string_view name;     ///< As in `strid run NAME`, and of its program.
    std::string_view summary;  ///< One line.
    std::string_view details;  ///< Its input, its output, examples; a line end before each line.
    std::string_view source_name;  ///< The operator that reads the input.
    bool generates = false;        ///< It can make its records (Endpoints::generate).
    /// Its answer depends on the order of all records: a replay has one source.
    bool needs_order = false;
    SideFile side_file = {};
};

/// Every application, in the order in which they are listed.
[[nodiscard]] std::span<const ApplicationFacts> application_table() noexcept;

/// The row of that name, or null.
[[nodiscard]] const ApplicationFacts* find_application(std::string_view name) noexcept;

}  // namespace strid::apps
