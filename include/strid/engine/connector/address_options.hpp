// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the address of a transport (connector/transport.hpp). Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/connector/transport.hpp>

namespace strid::detail {

/// Takes an option that is a whole number from 1 to `most` (base/quantity.hpp); `otherwise` where
/// it is not given. Throws GraphError, as the two below do.
[[nodiscard]] std::uint64_t take_count(TransportAddress& address, std::string_view option,
                                       std::uint64_t otherwise, std::uint64_t most);
/// The same of bytes.
[[nodiscard]] std::uint64_t take_bytes(TransportAddress& address, std::string_view option,
                                       std::uint64_t otherwise, std::uint64_t most);
/// The same of a time up to a day, rounded up.
[[nodiscard]] std::chrono::milliseconds take_time(TransportAddress& address,
                                                  std::string_view option,
                                                  std::chrono::milliseconds otherwise);

/// An address for reports, which others may read: the path and the options of one of HTTP, which
/// may be a secret, are left out.
[[nodiscard]] std::string shown_address(const std::string& address);

}  // namespace strid::detail
