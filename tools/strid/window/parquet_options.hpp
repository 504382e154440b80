// SPDX-License-Identifier: Apache-2.0
//
// Addresses of Parquet files get the options that the command line knows the values of. Plain
// functions; one thread.
#pragma once

#include "window_arguments.hpp"

namespace strid::tool {

/// Behind all other options: the inputs name the columns that are needed, and the output the types
/// of its columns, where their addresses do not.
void settle_parquet(WindowCommand& command);

}  // namespace strid::tool
