// SPDX-License-Identifier: Apache-2.0
#include "place.hpp"

#include <cstdlib>
#include <string_view>

#include "entry_id.hpp"

namespace strid::redis {

namespace {

constexpr int default_port = 6379;

std::string password_of_environment() {
    const char* const value = std::getenv("STRID_REDIS_PASSWORD");
    return value == nullptr ? std::string{} : std::string(value);
}

/// HOST, HOST:PORT or [HOST]:PORT.
void read_server(const TransportAddress& from, std::string_view server, Place& place) {
    place.port = default_port;
    const bool has_brackets = server.starts_with('[');
    const std::size_t host_end = server.find(has_brackets ? ']' : ':');
    place.host = server.substr(has_brackets ? 1 : 0, host_end - (has_brackets ? 1 : 0));
    const std::size_t colon =
        host_end == std::string_view::npos ? host_end : server.find(':', host_end);
    if (place.host.empty()) from.refuse("the host is missing");
    if (colon == std::string_view::npos) return;
    if (!read_number(server.substr(colon + 1), place.port) || place.port < 1 ||
        place.port > 65535) {
        from.refuse("a port is a number from 1 to 65535");
    }
}

}  // namespace

Place::Place(TransportAddress& from)
    : address(from.text()), user(from.take("user")), password(password_of_environment()) {
    const std::string number = from.take("db");
    if (!number.empty() && (!read_number(number, database) || database < 0)) {
        from.refuse("db is the number of a database, from 0");
    }
    from.expect_no_more(
        "there are db, user, of an input start, until, with, field, columns, and of an output "
        "field, format, maxlen, sink");
    const std::string place = from.decoded_place();
    const std::size_t slash = place.find('/', 2);
    if (!place.starts_with("//") || slash == std::string::npos || slash == 2 ||
        slash + 1 == place.size()) {
        from.refuse("the address of a stream is redis://HOST:PORT/STREAM");
    }
    const std::string server = place.substr(2, slash - 2);
    stream = place.substr(slash + 1);
    if (server.find('@') != std::string::npos) from.refuse("a user is named by user=NAME");
    read_server(from, server, *this);
    if (!user.empty() && password.empty()) {
        from.refuse("the password of the user is missing: STRID_REDIS_PASSWORD has it");
    }
}

}  // namespace strid::redis
