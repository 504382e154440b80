// SPDX-License-Identifier: Apache-2.0
#include "peer_stream.hpp"

#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "socket_input.hpp"

namespace strid::detail {

namespace {

bool may_be_repeated(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

PeerStream::PeerStream(http::Descriptor socket, const http::SecureServer& secure)
    : socket_(std::move(socket)), channel_(secure ? secure(socket_.get()) : nullptr) {
    // A machine that has vanished is seen after a while, also where nothing is sent to it.
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

PeerStream::Step PeerStream::receive(std::span<char> out) {
    if (channel_) return channel_->receive(out);
    const ::ssize_t got = ::recv(socket_.get(), out.data(), out.size(), MSG_DONTWAIT);
    if (got > 0) return {.bytes = static_cast<std::size_t>(got)};
    if (got == 0) return {};
    if (may_be_repeated(errno)) return {.events = POLLIN};
    error_ = reason_of(errno);
    return {};
}

PeerStream::Step PeerStream::send(std::string_view text) {
    if (channel_) return channel_->send(text);
    const ::ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) return {.bytes = static_cast<std::size_t>(sent)};
    if (sent == 0 || may_be_repeated(errno)) return {.events = POLLOUT};
    error_ = reason_of(errno);
    return {};
}

void PeerStream::announce_end() noexcept {
    if (channel_) channel_->announce_end();
    ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace strid::detail
