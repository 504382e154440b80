// SPDX-License-Identifier: Apache-2.0
//
// Queries and tables of PostgreSQL, as inputs and outputs of text (connector/transport.hpp); the
// library is strid::postgres, of the package libpq-dev.
//
//     postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE&OPTION=VALUE
//
//     input    table=NAME      all rows of a table, in no order
//              query=SELECT    the rows of a query: with snapshots one that gives the same rows in
//                              the same order each time, by ORDER BY
//              changes=NAME    the rows of a table of this publication, and then its changes;
//                              slot=NAME (docs/databases.md has the other options)
//     output   table=NAME      the table that rows are added to
//              keys=A,B        a row replaces that with the same values in these columns, which
//                              have a unique index
//              sink=NAME       tells two sinks of a run apart that write to one table
//
// Other options are those of libpq (sslmode, host as the folder of a socket, connect_timeout); the
// environment counts as with psql, PGPASSWORD and ~/.pgpass among it.
//
// An input is the CSV that COPY (SELECT) TO STDOUT gives, with a header. An output is COPY FROM
// STDIN; a field without text is no value. Rows of an epoch, and the number of the epoch in the
// table strid_epochs, which is made where it is missing, are one transaction.
#pragma once

namespace strid {

/// From now on addresses that begin with postgres: and postgresql: are served. Any thread, any
/// number of times; a program that includes this header need not call it.
void use_postgres();

namespace detail {
inline const bool postgres_is_used = (use_postgres(), true);
}  // namespace detail

}  // namespace strid
