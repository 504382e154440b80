// SPDX-License-Identifier: Apache-2.0
//
// Datagrams to the service manager that has started the process (sd_notify(3)). Any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid::detail {

/// The socket that NOTIFY_SOCKET names; empty: no service manager asks.
[[nodiscard]] std::string service_socket();
/// Sends lines of NAME=VALUE there. A manager that does not take them is no reason to stop.
void send_to_service_manager(const std::string& socket, std::string_view lines) noexcept;

}  // namespace strid::detail
