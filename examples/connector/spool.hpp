// SPDX-License-Identifier: Apache-2.0
//
// A folder of files of rows, as an input and an output wherever a source or a sink takes a path.
//
//     spool:FOLDER              of an output: each transaction becomes a file, whole or not at all
//     spool:FOLDER?until=end    of an input: the files in their order; without `until` it waits for
//                               more
//
// One process at a time writes to a folder.
#pragma once

/// From now on addresses that begin with spool: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_spool();

inline const bool spool_is_used = (use_spool(), true);
