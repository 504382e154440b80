// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/http/listener.hpp>

namespace strid::http {

namespace {

constexpr int backlog = 64;

using Addresses = std::unique_ptr<::addrinfo, decltype(&::freeaddrinfo)>;

std::string place(const std::string& host, std::uint16_t port) {
    const bool is_six = host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", is_six ? "[" : "", host, is_six ? "]" : "", port);
}

Addresses look_up(const std::string& host, std::uint16_t port) {
    ::addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    ::addrinfo* found = nullptr;
    const int fault = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
    if (fault != 0) {
        throw InputOutputError(fmt::format("{}: cannot look up the address: {}", place(host, port),
                                           ::gai_strerror(fault)));
    }
    return {found, &::freeaddrinfo};
}

bool is_loopback(const ::sockaddr* address) noexcept {
    if (address->sa_family == AF_INET) {
        constexpr unsigned first_byte = 24;
        const auto* const four = reinterpret_cast<const ::sockaddr_in*>(address);
        return ntohl(four->sin_addr.s_addr) >> first_byte == 127;
    }
    const auto* const six = reinterpret_cast<const ::sockaddr_in6*>(address);
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/// Listening, or -1 with errno.
int listening_at(const ::addrinfo& address) noexcept {
    const int socket =
        ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (socket < 0) return -1;
    // Connections of a run before do not keep the port; a server that listens there does.
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket, address.ai_addr, address.ai_addrlen) == 0 &&
        ::listen(socket, backlog) == 0) {
        return socket;
    }
    const int fault = errno;
    ::close(socket);
    errno = fault;
    return -1;
}

std::uint16_t port_of(int socket) noexcept {
    ::sockaddr_storage address{};
    ::socklen_t bytes = sizeof address;
    if (::getsockname(socket, reinterpret_cast<::sockaddr*>(&address), &bytes) != 0) return 0;
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const ::sockaddr_in6*>(&address)->sin6_port
                     : reinterpret_cast<const ::sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

int Descriptor::release() noexcept {
    return std::exchange(number_, -1);
}

Listener::Listener(const std::string& host, std::uint16_t port) {
    const Addresses addresses = look_up(host, port);
    int fault = EADDRNOTAVAIL;
    for (const ::addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        Descriptor socket(listening_at(*one));
        if (socket.get() < 0) {
            fault = errno;
            continue;
        }
        socket_ = std::move(socket);
        is_local_ = is_loopback(one->ai_addr);
        port_ = port_of(socket_.get());
        return;
    }
    throw InputOutputError(fmt::format("{}: cannot listen: {}", place(host, port),
                                       std::generic_category().message(fault)));
}

Descriptor Listener::accept() const noexcept {
    return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace strid::http
