// SPDX-License-Identifier: Apache-2.0
//
// The transport of lines that are posted by HTTP (http-listen:), which needs no package. Private to
// the connector room.
#pragma once

#include <strid/connector/transport.hpp>

namespace strid::detail {

[[nodiscard]] Transport http_input_transport();

}  // namespace strid::detail
