// SPDX-License-Identifier: Apache-2.0
#include "socket_input.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::detail {

namespace {

constexpr std::array<std::string_view, 4> schemes = {"tcp://", "tcp-listen://", "unix://",
                                                     "unix-listen://"};

std::string_view scheme_of(std::string_view path) noexcept {
    const auto* const found =
        std::find_if(schemes.begin(), schemes.end(),
                     [path](std::string_view scheme) { return path.starts_with(scheme); });
    return found == schemes.end() ? std::string_view{} : *found;
}

const ::sockaddr* address_of(const ::sockaddr_storage& storage) noexcept {
    return reinterpret_cast<const ::sockaddr*>(&storage);
}

int nonblocking_socket(int family) noexcept {
    return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

}  // namespace

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

bool is_socket_address(std::string_view path) noexcept {
    return !scheme_of(path).empty() && path.find('?') == std::string_view::npos;
}

bool is_listening_address(std::string_view path) noexcept {
    return scheme_of(path).find("listen") != std::string_view::npos;
}

SocketInput::SocketInput(std::string address, int backlog)
    : name_(std::move(address)), backlog_(backlog) {
    const std::string_view scheme = scheme_of(name_);
    const std::string rest = name_.substr(scheme.size());
    listens_ = is_listening_address(name_);
    if (scheme.starts_with("unix")) {
        path_ = rest;
        if (path_.empty() || path_.size() >= sizeof(::sockaddr_un::sun_path)) {
            fail("not the path of a Unix socket: unix:///run/name.sock");
        }
        places_.push_back(place_of_path(path_));
    } else {
        const auto colon = rest.rfind(':');
        std::string host = rest.substr(0, colon);
        if (colon == std::string::npos || colon + 1 == rest.size() || (host.empty() && !listens_)) {
            fail("not an address: tcp://host:port, or tcp-listen://:port to be connected to");
        }
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        look_up(host, rest.substr(colon + 1));
    }
    if (listens_) listen();
}

SocketInput::~SocketInput() {
    close();
}

void SocketInput::close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (!owned_path_.empty()) ::unlink(owned_path_.c_str());
    owned_path_.clear();
}

void SocketInput::fail(const std::string& reason) const {
    throw InputOutputError(name_ + ": " + reason);
}

SocketInput::Place SocketInput::place_of_path(const std::string& path) {
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Place place{};
    std::memcpy(&place.address, &address, sizeof address);
    place.bytes = sizeof address;
    return place;
}

void SocketInput::look_up(const std::string& host, const std::string& port) {
    ::addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = listens_ ? AI_PASSIVE : AI_ADDRCONFIG;
    ::addrinfo* found = nullptr;
    const int fault =
        ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &wanted, &found);
    if (fault != 0) fail(std::string("cannot look up the address: ") + ::gai_strerror(fault));
    for (const ::addrinfo* one = found; one != nullptr; one = one->ai_next) {
        Place place{};
        std::memcpy(&place.address, one->ai_addr, one->ai_addrlen);
        place.bytes = one->ai_addrlen;
        places_.push_back(place);
    }
    ::freeaddrinfo(found);
    // A listener at the address :: takes clients of IPv4, too.
    if (!listens_) return;
    std::stable_partition(places_.begin(), places_.end(),
                          [](const Place& place) { return place.address.ss_family == AF_INET6; });
}

void SocketInput::listen() {
    for (const Place& place : places_) {
        descriptor_ = listen_at(place);
        if (descriptor_ >= 0) return;
    }
    fail("cannot listen: " + reason_of(error_));
}

int SocketInput::listen_at(const Place& place) {
    if (!path_.empty()) remove_stale(place);
    const int socket = nonblocking_socket(place.address.ss_family);
    if (socket < 0) {
        error_ = errno;
        return -1;
    }
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (place.address.ss_family == AF_INET6) {
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    const bool is_bound = ::bind(socket, address_of(place.address), place.bytes) == 0;
    if (is_bound) owned_path_ = path_;
    if (is_bound && ::listen(socket, backlog_) == 0) return socket;
    error_ = errno;
    ::close(socket);
    return -1;
}

// The file that a listener which was killed left behind; one that something listens at stays.
void SocketInput::remove_stale(const Place& place) {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    const int probe = nonblocking_socket(AF_UNIX);
    if (probe < 0) return;
    const bool is_stale =
        ::connect(probe, address_of(place.address), place.bytes) != 0 && errno == ECONNREFUSED;
    ::close(probe);
    if (is_stale) ::unlink(path_.c_str());
}

int SocketInput::connected(int wait_ms) {
    if (listens_) return accepted(wait_ms);
    for (;;) {
        if (descriptor_ < 0) {
            if (places_.empty()) fail("cannot connect: " + reason_of(error_));
            descriptor_ = begin_connecting();
            if (descriptor_ < 0) continue;
        }
        struct pollfd waited {
            descriptor_, POLLOUT, 0
        };
        if (::poll(&waited, 1, wait_ms) <= 0) return -1;
        ::socklen_t bytes = sizeof error_;
        ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error_, &bytes);
        if (error_ == 0) return std::exchange(descriptor_, -1);
        close();
    }
}

// To the next place. -1: it is not there.
int SocketInput::begin_connecting() {
    const Place place = places_.front();
    places_.erase(places_.begin());
    const int socket = nonblocking_socket(place.address.ss_family);
    if (socket >= 0 &&
        (::connect(socket, address_of(place.address), place.bytes) == 0 || errno == EINPROGRESS)) {
        return socket;
    }
    error_ = errno;
    if (socket >= 0) ::close(socket);
    return -1;
}

int SocketInput::accepted(int wait_ms) {
    struct pollfd waited {
        descriptor_, POLLIN, 0
    };
    if (::poll(&waited, 1, wait_ms) <= 0) return -1;
    const int client = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
        const bool is_gone = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
        if (!is_gone) fail("cannot take a client: " + reason_of(errno));
        return -1;
    }
    if (!keeps_listening_) close();  // no other client is taken
    return client;
}

}  // namespace strid::detail
