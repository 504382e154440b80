// SPDX-License-Identifier: Apache-2.0
#include "link/socket.hpp"

#include <cerrno>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace strid::exchange {

Socket::~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Socket::shut_down() noexcept {
    if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

bool Socket::send_all(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const std::ptrdiff_t sent = send_some(bytes);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        if (bytes.empty()) break;
        pollfd room{descriptor_, POLLOUT, 0};
        if (::poll(&room, 1, -1) < 0 && errno != EINTR) return false;
    }
    return true;
}

std::ptrdiff_t Socket::send_some(std::string_view bytes) noexcept {
    while (true) {
        const ssize_t sent =
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) return sent;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR) return -1;
    }
}

std::ptrdiff_t Socket::receive_some(std::string& bytes, std::size_t bytes_max) {
    char chunk[std::size_t{64} << 10];
    while (true) {
        const ssize_t received =
            ::recv(descriptor_, chunk, std::min(bytes_max, sizeof chunk), MSG_DONTWAIT);
        if (received > 0) {
            bytes.append(chunk, static_cast<std::size_t>(received));
            return received;
        }
        if (received == 0) return -1;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR) return -1;
    }
}

bool Socket::wait_readable(int timeout_ms) noexcept {
    pollfd there{descriptor_, POLLIN, 0};
    return ::poll(&there, 1, timeout_ms) > 0;
}

void set_no_delay(const Socket& socket) noexcept {
    const int on = 1;
    // A socket of the file system has no such option and no such delay.
    (void)::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void set_non_blocking(const Socket& socket) noexcept {
    const int flags = ::fcntl(socket.descriptor(), F_GETFL);
    (void)::fcntl(socket.descriptor(), F_SETFL, flags | O_NONBLOCK);
}

}  // namespace strid::exchange
