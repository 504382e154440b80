// SPDX-License-Identifier: Apache-2.0
//
// Options in the address of a transport (connector/transport.hpp) that several have. Any thread.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <strid/connector/transport.hpp>

namespace strid::detail {

/// Whether all of the text is a number, which is read.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number, int base = 10) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number, base);
    return read.ec == std::errc{} && read.ptr == end;
}

/// Takes `until=end`. Throws GraphError for another value.
[[nodiscard]] bool take_until_end(TransportAddress& address);

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
