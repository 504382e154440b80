// SPDX-License-Identifier: Apache-2.0
//
// Files of Parquet, by a module beside the program that is loaded for the first address of one:
// Apache Arrow, which it links, takes longer to load than the rest of the program. Any thread.
#pragma once

namespace strid::tool {

/// From now on addresses that begin with parquet: are served. One that is opened while the module
/// cannot be loaded throws InputOutputError, which says why.
void use_parquet_module();

}  // namespace strid::tool
