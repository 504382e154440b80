// SPDX-License-Identifier: Apache-2.0
//
// The transports of sockets whose addresses have options, and of tls:, which need no package but
// for TLS. Private to the connector room.
#pragma once

#include <vector>

#include <strid/connector/transport.hpp>

namespace strid::detail {

[[nodiscard]] std::vector<Transport> socket_transports();

}  // namespace strid::detail
