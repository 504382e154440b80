// SPDX-License-Identifier: Apache-2.0
//
// Queries and tables of SQLite, as inputs and outputs of text (connector/transport.hpp); the
// library is strid::sqlite, of the package libsqlite3-dev.
//
//     sqlite:PATH?OPTION=VALUE&OPTION=VALUE
//
//     input    table=NAME      all rows of a table, in the order of their numbers
//              query=SELECT    the rows of a query: with snapshots one that gives the same rows in
//                              the same order each time, by ORDER BY
//     output   table=NAME      the table that rows are added to
//              keys=A,B        a row replaces that with the same values in these columns, which
//                              have a unique index
//              sink=NAME       tells two sinks of a run apart that write to one table
//
// The file exists; a percent sign or a question mark in its path is written %25, %3F. An input is
// CSV with a header, a blob the hexadecimal digits of its bytes. Of an output each field is text,
// which SQLite converts by the type of its column; a field without text is NULL. Rows of an epoch,
// and the number of the epoch in the table strid_epochs, which is made where it is missing, are one
// transaction. A file that another process has locked is waited for.
#pragma once

namespace strid {

/// From now on addresses that begin with sqlite: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_sqlite();

namespace detail {
inline const bool sqlite_is_used = (use_sqlite(), true);
}  // namespace detail

}  // namespace strid
