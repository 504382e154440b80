// SPDX-License-Identifier: Apache-2.0
//
// Files of Parquet and of Arrow IPC as inputs, and folders of Parquet as outputs of text
// (connector/transport.hpp); the library is strid::parquet, over Apache Arrow. A name that ends in
// .parquet or .arrow is an address, too.
//
//     parquet:PATH?OPTION=VALUE&OPTION=VALUE         parquet:///absolute/path
//
//     input    PATH            a file, or a folder: its files that end so, in the order of their
//                              paths; folders NAME=VALUE are columns
//              columns=A,B     these are read, and no others
//     output   PATH            a folder of parts, which is made; or a file that does not exist
//              types=A:TYPE    the types of columns: docs/parquet.md
//              partition=A     a folder NAME=VALUE for each value of the column
//              rows=, size=    a part has so many rows, or so many bytes, about, at most
//              every=          of a run that writes live a part ends after such a time
//              compression=    zstd (default), snappy, gzip, lz4, brotli, none
//              sink=NAME       tells two sinks of a run apart that write to one folder
//
// An input is CSV with a header; docs/parquet.md says how values are written. The parts of an epoch
// get their names together, by a record of their names that is made last.
#pragma once

namespace strid {

/// From now on addresses that begin with parquet: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_parquet();

namespace detail {
inline const bool parquet_is_used = (use_parquet(), true);
}  // namespace detail

}  // namespace strid
