// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strid::tool {

/// Adds the transports that this build has (strid/connector/transport.hpp).
void add_transports();

}  // namespace strid::tool
