// SPDX-License-Identifier: Apache-2.0
#include "socket_place.hpp"

#include <cstdint>
#include <string_view>

#include <strid/engine/connector/address_options.hpp>

namespace strid::detail {

namespace {

constexpr std::uint64_t clients_most = 1'000;
constexpr std::uint64_t message_bytes_default = std::uint64_t{1} << 20;
/// A journal takes a message as a part of one block.
constexpr std::uint64_t message_bytes_most = std::uint64_t{60} << 20;

constexpr std::uint64_t readers_default = 64;
/// Of rows that wait for a reader.
constexpr std::uint64_t reader_bytes_default = std::uint64_t{1} << 20;
constexpr std::uint64_t reader_bytes_most = std::uint64_t{1} << 30;

std::string host_of_socket(std::string_view place) {
    std::string_view host = place.substr(0, place.rfind(':'));
    if (host.starts_with("//")) host.remove_prefix(2);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return std::string(host);
}

Framing framing_of(TransportAddress& from) {
    const std::string framing = from.take("framing");
    if (framing.empty() || framing == "lines") return Framing::lines;
    if (framing != "length32") from.refuse("framing is lines or length32");
    return Framing::length32;
}

SlowReader slow_of(TransportAddress& from) {
    const std::string slow = from.take("slow");
    if (slow.empty() || slow == "wait") return SlowReader::waits;
    if (slow == "drop") return SlowReader::loses_rows;
    if (slow != "close") from.refuse("slow is wait, drop or close");
    return SlowReader::is_closed;
}

bool has_json_format(TransportAddress& from) {
    const std::string format = from.take("format");
    if (!format.empty() && format != "json" && format != "csv") {
        from.refuse("format is csv or json");
    }
    return format == "json";
}

}  // namespace

SocketPlace::SocketPlace(TransportAddress& from)
    : text(from.text()),
      listens(from.scheme().ends_with("-listen")),
      is_tls(from.scheme() == "tls"),
      host(is_tls ? host_of_socket(from.place()) : std::string{}),
      tls({.certificate = from.take("certificate"),
           .key = from.take("key"),
           .authority = from.take("authority")}) {
    address = (is_tls ? std::string("tcp") : from.scheme()) + ":" + from.decoded_place();
    const bool is_given = !tls.certificate.empty() || !tls.key.empty() || !tls.authority.empty();
    if (is_given && !listens && !is_tls) {
        from.refuse("a connection is encrypted by tls://HOST:PORT");
    }
    if (is_given && listens && tls.certificate.empty()) {
        from.refuse("a server that encrypts has a certificate and its key");
    }
}

SocketInputPlace::SocketInputPlace(TransportAddress& from)
    : SocketPlace(from),
      clients_max(take_count(from, "clients", 0, clients_most)),
      framing(framing_of(from)),
      message_bytes_max(take_bytes(from, "message", message_bytes_default, message_bytes_most)),
      idle(take_time(from, "idle", std::chrono::milliseconds{0})) {
    if (!listens && clients_max != 0) from.refuse("clients are those of an address that listens");
    if (clients_max == 0 && idle.count() != 0) from.refuse("idle needs clients=NUMBER");
    from.expect_no_more(
        listens  ? "there are clients, framing, message, idle, certificate, key and authority"
        : is_tls ? "there are framing, message, authority, certificate and key"
                 : "there are framing and message");
}

SocketOutputPlace::SocketOutputPlace(TransportAddress from)
    : SocketPlace(from), is_json(has_json_format(from)) {
    if (!listens) {
        retry = take_time(from, "retry", std::chrono::milliseconds{0});
        from.expect_no_more(is_tls ? "there are format, retry, authority, certificate and key"
                                   : "there are format and retry");
        return;
    }
    slow = slow_of(from);
    waiting_bytes_max = take_bytes(from, "waiting", reader_bytes_default, reader_bytes_most);
    clients_max = take_count(from, "clients", readers_default, clients_most);
    await = take_count(from, "await", 0, clients_max);
    from.expect_no_more(
        "there are format, slow, waiting, clients, await, certificate, key and authority");
}

}  // namespace strid::detail
