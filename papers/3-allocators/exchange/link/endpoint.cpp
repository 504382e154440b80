// SPDX-License-Identifier: Apache-2.0
#include "link/endpoint.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

[[noreturn]] void fail(const Endpoint& endpoint, const char* what, int error) {
    throw InputOutputError(fmt::format("{}: {}: {}", endpoint.to_text(), what,
                                       std::generic_category().message(error)));
}

struct FreeAddresses {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses addresses_of(const Endpoint& endpoint, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const std::string port = std::to_string(endpoint.port);
    if (const int code = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &list)) {
        throw InputOutputError(
            fmt::format("{}: no such address: {}", endpoint.to_text(), ::gai_strerror(code)));
    }
    return Addresses(list);
}

sockaddr_un path_address(const Endpoint& endpoint) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (endpoint.path.size() >= sizeof address.sun_path) {
        throw InputOutputError(fmt::format("{}: the path has more than {} bytes",
                                           endpoint.to_text(), sizeof address.sun_path - 1));
    }
    std::memcpy(address.sun_path, endpoint.path.data(), endpoint.path.size());
    return address;
}

const sockaddr* as_general(const sockaddr_un& address) noexcept {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// Null where it could not be connected in time; errno says why.
Socket connected(int family, const sockaddr* address, socklen_t size, int timeout_ms) {
    Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return {};
    if (::connect(socket.descriptor(), address, size) != 0) {
        if (errno != EINPROGRESS) return {};
        pollfd done{socket.descriptor(), POLLOUT, 0};
        if (::poll(&done, 1, timeout_ms) <= 0) {
            errno = ETIMEDOUT;
            return {};
        }
        int error = 0;
        socklen_t error_size = sizeof error;
        (void)::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &error_size);
        if (error != 0) {
            errno = error;
            return {};
        }
    }
    set_no_delay(socket);
    return socket;
}

/// A file that is left of a program that is gone is in the way of bind().
void remove_left_socket(const Endpoint& endpoint, const sockaddr_un& address) {
    if (connected(AF_UNIX, as_general(address), sizeof address, 1000))
        fail(endpoint, "listen", EADDRINUSE);
    if (errno == ECONNREFUSED) ::unlink(endpoint.path.c_str());
}

Socket listen_on_path(const Endpoint& endpoint, int backlog) {
    const sockaddr_un address = path_address(endpoint);
    remove_left_socket(endpoint, address);
    Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket || ::bind(socket.descriptor(), as_general(address), sizeof address) != 0 ||
        ::listen(socket.descriptor(), backlog) != 0) {
        fail(endpoint, "listen", errno);
    }
    return socket;
}

std::uint16_t port_of(const Socket& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    (void)::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

std::string Endpoint::to_text() const {
    if (!path.empty()) return "unix:" + path;
    const bool is_v6 = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

Endpoint read_endpoint(std::string_view text) {
    Endpoint endpoint;
    if (text.starts_with("unix:")) {
        endpoint.path = text.substr(5);
        if (!endpoint.path.empty()) return endpoint;
    } else if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
        std::string_view host = text.substr(0, colon);
        const std::string_view port = text.substr(colon + 1);
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        const auto [end, error] =
            std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
        if (!host.empty() && error == std::errc() && end == port.data() + port.size()) {
            endpoint.host = host;
            return endpoint;
        }
    }
    throw GraphError(fmt::format("'{}' is neither HOST:PORT nor unix:PATH", text));
}

Socket listen_on(Endpoint& endpoint, int backlog) {
    if (!endpoint.path.empty()) return listen_on_path(endpoint, backlog);
    const Addresses addresses = addresses_of(endpoint, true);
    Socket socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (!socket ||
        ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket.descriptor(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
        ::listen(socket.descriptor(), backlog) != 0) {
        fail(endpoint, "listen", errno);
    }
    endpoint.port = port_of(socket);
    return socket;
}

Socket connect_to(const Endpoint& endpoint, int timeout_ms) {
    Socket socket;
    if (!endpoint.path.empty()) {
        const sockaddr_un address = path_address(endpoint);
        socket = connected(AF_UNIX, as_general(address), sizeof address, timeout_ms);
    } else {
        const Addresses addresses = addresses_of(endpoint, false);
        for (const addrinfo* one = addresses.get(); one != nullptr && !socket; one = one->ai_next) {
            socket = connected(one->ai_family, one->ai_addr, one->ai_addrlen, timeout_ms);
        }
    }
    if (!socket) fail(endpoint, "connect", errno);
    return socket;
}

}  // namespace strid::exchange
