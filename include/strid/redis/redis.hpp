// SPDX-License-Identifier: Apache-2.0
//
// Streams of Redis, as inputs and outputs of text (connector/transport.hpp); the library is
// strid::redis, of the package libhiredis-dev. Redis 7 or newer.
//
//     redis://HOST:PORT/STREAM?OPTION=VALUE
//
//     input    start=earliest    the first entry of the stream (default)
//              start=latest      the entries that come from now on
//              start=@TIME       those from a time on, in milliseconds since 1970
//              start=ID          those from an id on, MS-NUMBER
//              until=end         up to what there is at the start; else entries are waited for
//              field=NAME        the text in this field is the row, JSON or CSV; an entry without
//                                it is passed over
//              columns=A,B       a row of CSV with the values of these fields. Without the two an
//                                entry is an object of JSON with its fields as members
//              with=FIELD,...    id, time: columns about an entry
//     output   field=NAME        a row is the text of this field; else each column is a field
//              format=json       of that text: an object with the names of the columns; csv
//                                (default)
//              maxlen=N          the stream is cut off at its front to about so many entries
//              sink=NAME         tells two sinks of a run apart that write to one stream
//     both     db=NUMBER         the database
//              user=NAME         a user of the server; the password, of this user or of the
//                                server, is in the environment's STRID_REDIS_PASSWORD
//
// With snapshots a run goes on behind the entry that the snapshot names; there is no consumer
// group, and nothing is acknowledged. Entries that were cut off the stream before they were read
// end the run with an error. A connection that is lost is made again, behind the last entry.
//
// An output adds the rows of an epoch by one transaction, with the number of the epoch under a key
// beside the stream: each row is there once, as long as the server does not forget. A second
// process that writes the same stream of rows ends the first one.
#pragma once

namespace strid {

/// From now on addresses that begin with redis: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_redis();

namespace detail {
inline const bool redis_is_used = (use_redis(), true);
}  // namespace detail

}  // namespace strid
