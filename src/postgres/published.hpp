// SPDX-License-Identifier: Apache-2.0
//
// Questions by SQL about a table of a publication, and about the slots of replication,
// with errors that name the remedy. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "pgoutput.hpp"

namespace strid::postgres {

/// A table whose changes are published.
struct PublishedTable {
    std::string schema;
    std::string name;
    std::uint32_t number = 0;          ///< Its oid.
    std::vector<std::string> columns;  ///< Those that are published, in their order.
    std::string filter;                ///< The condition of published rows; empty: none.
    bool is_partitioned = false;       ///< Else it has rows of its own, and its children others.

    /// `SCHEMA.NAME`, for messages.
    [[nodiscard]] std::string full_name() const { return schema + '.' + name; }
    /// The names of the columns as a row of CSV.
    [[nodiscard]] std::string header() const;
};

/// The table of a publication; `table`: which one, NAME or SCHEMA.NAME; empty: the only one. Checks
/// also whether the server writes logical changes and the user may read them. Throws
/// InputOutputError, which begins with `address`.
[[nodiscard]] PublishedTable published_table(Connection& connection, const std::string& address,
                                             const std::string& publication,
                                             const std::string& table);

/// The query whose rows are those of a table as they are published.
[[nodiscard]] std::string rows_query(Connection& connection, const PublishedTable& table);

/// Up to where a slot was confirmed; none: there is no such slot. Throws InputOutputError where it
/// is none of pgoutput and of this database.
[[nodiscard]] std::optional<Lsn> slot_confirmed(Connection& connection, const std::string& address,
                                                const std::string& slot);

}  // namespace strid::postgres
