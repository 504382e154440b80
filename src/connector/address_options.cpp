// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/quantity.hpp>
#include <strid/engine/connector/address_options.hpp>

namespace strid::detail {

namespace {

/// Reads the option, and refuses what is above `most`. Throws GraphError with the address.
template <class Value, class Read>
Value taken(TransportAddress& address, std::string_view option, Value otherwise, Value most,
            std::string_view most_text, const Read& read) {
    const std::string text = address.take(option);
    if (text.empty()) return otherwise;
    try {
        const Value value = read(text);
        if (value <= most) return value;
    } catch (const GraphError& error) {
        address.refuse(fmt::format("{}: {}", option, error.what()));
    }
    address.refuse(fmt::format("{}: {} is above {}", option, text, most_text));
}

}  // namespace

bool take_until_end(TransportAddress& address) {
    const std::string until = address.take("until");
    if (!until.empty() && until != "end") address.refuse("until is end");
    return !until.empty();
}

std::uint64_t take_count(TransportAddress& address, std::string_view option,
                         std::uint64_t otherwise, std::uint64_t most) {
    return taken(address, option, otherwise, most, std::to_string(most), &read_whole_number);
}

std::uint64_t take_bytes(TransportAddress& address, std::string_view option,
                         std::uint64_t otherwise, std::uint64_t most) {
    return taken(address, option, otherwise, most, fmt::format("{} bytes", most), &read_byte_count);
}

std::chrono::milliseconds take_time(TransportAddress& address, std::string_view option,
                                    std::chrono::milliseconds otherwise) {
    constexpr std::chrono::milliseconds most = std::chrono::hours{24};
    return taken(address, option, otherwise, most, "a day", [](std::string_view text) {
        return std::chrono::ceil<std::chrono::milliseconds>(read_duration(text));
    });
}

std::string shown_address(const std::string& address) {
    if (!address.starts_with("http://") && !address.starts_with("https://")) return address;
    const std::size_t end = address.find_first_of("/?", address.find("//") + 2);
    return end == std::string::npos ? address : address.substr(0, end) + "/...";
}

}  // namespace strid::detail
