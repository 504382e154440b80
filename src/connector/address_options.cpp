// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <strid/engine/connector/address_options.hpp>

namespace strid::detail {

namespace {

struct OptionUnit {
    std::string_view name;
    std::uint64_t scale;
};
constexpr OptionUnit count_units[] = {{"", 1}};
constexpr OptionUnit byte_units[] = {
    {"", 1}, {"K", 1ULL << 10U}, {"M", 1ULL << 20U}, {"G", 1ULL << 30U}};
constexpr OptionUnit time_option_units[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}};

/// From 1 to `most`; none: it is something else.
std::optional<std::uint64_t> number_of(std::string_view text, std::span<const OptionUnit> units,
                                       std::uint64_t most) {
    const char* const end = text.data() + text.size();
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), end, number);
    const std::string_view name(read.ptr, static_cast<std::size_t>(end - read.ptr));
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [name](const OptionUnit& one) { return one.name == name; });
    const bool is_one = read.ec == std::errc{} && unit != units.end() && number != 0 &&
                        number <= most / unit->scale;
    if (!is_one) return std::nullopt;
    return number * unit->scale;
}

std::uint64_t take_number(TransportAddress& address, std::string_view option,
                          std::span<const OptionUnit> units, std::uint64_t otherwise,
                          std::uint64_t most, std::string_view form) {
    const std::string text = address.take(option);
    if (text.empty()) return otherwise;
    const auto number = number_of(text, units, most);
    if (!number) address.refuse(fmt::format("{} is {}", option, form));
    return *number;
}

}  // namespace

std::uint64_t take_count(TransportAddress& address, std::string_view option,
                         std::uint64_t otherwise, std::uint64_t most) {
    return take_number(address, option, count_units, otherwise, most,
                       fmt::format("a number from 1 to {}", most));
}

std::uint64_t take_bytes(TransportAddress& address, std::string_view option,
                         std::uint64_t otherwise, std::uint64_t most) {
    return take_number(address, option, byte_units, otherwise, most,
                       fmt::format("a number of bytes up to {}, like 64K or 16M", most));
}

std::chrono::milliseconds take_time(TransportAddress& address, std::string_view option,
                                    std::chrono::milliseconds otherwise) {
    constexpr std::chrono::milliseconds most = std::chrono::hours{24};
    return std::chrono::milliseconds(take_number(
        address, option, time_option_units, static_cast<std::uint64_t>(otherwise.count()),
        static_cast<std::uint64_t>(most.count()), "a time up to a day, like 500ms, 30s or 2m"));
}

std::string shown_address(const std::string& address) {
    if (!address.starts_with("http://") && !address.starts_with("https://")) return address;
    const std::size_t end = address.find_first_of("/?", address.find("//") + 2);
    return end == std::string::npos ? address : address.substr(0, end) + "/...";
}

}  // namespace strid::detail
