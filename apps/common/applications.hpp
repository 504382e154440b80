// SPDX-License-Identifier: Apache-2.0
//
// The table of the applications: `strid list` and the help of `strid run` print it. Each
// application is a program of its own. Constants; any thread.
#pragma once

#include <span>
#include <string_view>

namespace strid::apps {

/// A row of the table.
struct ApplicationName {
    std::string_view name;     ///< As in `strid run NAME`, and of its program.
    std::string_view summary;  ///< One line.
};

/// Every application, in the order in which they are listed.
[[nodiscard]] std::span<const ApplicationName> application_table() noexcept;

/// The summary of the row of that name; empty where there is none.
[[nodiscard]] std::string_view summary_of(std::string_view name) noexcept;

}  // namespace strid::apps
