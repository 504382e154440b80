// SPDX-License-Identifier: Apache-2.0
#include "http_place.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <strid/engine/connector/address_options.hpp>

namespace strid::detail {

namespace {

constexpr std::uint64_t body_bytes_default = std::uint64_t{16} << 20;
/// A journal takes a body as one block.
constexpr std::uint64_t body_bytes_most = std::uint64_t{60} << 20;
constexpr std::uint64_t waiting_bytes_default = std::uint64_t{64} << 20;
constexpr std::uint64_t waiting_bytes_most = std::uint64_t{1} << 40;

constexpr std::uint64_t http_clients_default = 64;
constexpr std::uint64_t http_clients_most = 1'000;

std::string token_of_environment() {
    const char* const token = std::getenv("STRID_HTTP_TOKEN");
    return token == nullptr ? std::string{} : std::string(token);
}

}  // namespace

HttpPlace::HttpPlace(TransportAddress& from)
    : address(from.text()),
      body_bytes_max(take_bytes(from, "body", body_bytes_default, body_bytes_most)),
      within(take_time(from, "within", std::chrono::seconds{30})),
      waiting_bytes_max(take_bytes(from, "waiting", waiting_bytes_default, waiting_bytes_most)),
      clients_max(take_count(from, "clients", http_clients_default, http_clients_most)),
      tls({.certificate = from.take("certificate"), .key = from.take("key")}),
      token(token_of_environment()) {
    from.expect_no_more("there are body, within, waiting, clients, certificate and key");
    if (waiting_bytes_max <= body_bytes_max) from.refuse("waiting is more than body");
    const std::string& all = from.place();
    const std::size_t slash = all.find('/', 2);
    const std::string_view server = std::string_view(all).substr(0, slash);
    const std::size_t colon = server.rfind(':');
    if (!server.starts_with("//") || colon == std::string_view::npos) {
        from.refuse("an address to listen at is http-listen://HOST:PORT/PATH");
    }
    if (slash != std::string::npos) path = all.substr(slash);
    const char* const end = server.data() + server.size();
    const auto read = std::from_chars(server.data() + colon + 1, end, port);
    if (read.ec != std::errc{} || read.ptr != end || port == 0) {
        from.refuse("a port is a number from 1 to 65535");
    }
    std::string_view name = server.substr(2, colon - 2);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    if (!name.empty()) host = name;
}

}  // namespace strid::detail
