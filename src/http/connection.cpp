// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include <strid/engine/http/connection.hpp>
#include <strid/engine/http/http_text.hpp>

namespace strid::http {

namespace {

constexpr int peer_left = 499;
constexpr std::string_view head_end = "\r\n\r\n";

int milliseconds_until(std::chrono::steady_clock::time_point until) noexcept {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

bool may_be_repeated(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

bool Connection::wait_for(short events, Clock::time_point until) noexcept {
    for (;;) {
        std::array<::pollfd, 2> waited{
            {{socket_.get(), events, 0}, {server_ends_ ? -1 : ending_, POLLIN, 0}}};
        const int ready =
            ::poll(waited.data(), waited.size(), milliseconds_until(std::min(until, latest_)));
        if (ready == 0) return false;
        if (ready < 0) {
            if (errno != EINTR) return false;
            continue;
        }
        // A peer that sends all the time delays neither the end of the server nor its own.
        if (waited[1].revents != 0) {
            server_ends_ = true;
            latest_ = Clock::now() + times_.at_end;
            if (events == POLLIN) return false;
        }
        if (Clock::now() > std::min(until, latest_)) return false;
        if (waited[0].revents != 0) return true;
    }
}

bool Connection::wait_for_bytes(Clock::time_point until) noexcept {
    return (channel_ && channel_->has_bytes()) || wait_for(POLLIN, until);
}

SecureChannel::Step Connection::receive_step(std::span<char> out) noexcept {
    if (channel_) return channel_->receive(out);
    const ssize_t got = ::recv(socket_.get(), out.data(), out.size(), MSG_DONTWAIT);
    if (got > 0) return {.bytes = static_cast<std::size_t>(got)};
    return {.events = got < 0 && may_be_repeated(errno) ? short{POLLIN} : short{0}};
}

SecureChannel::Step Connection::send_step(std::string_view text) noexcept {
    if (channel_) return channel_->send(text);
    const ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) return {.bytes = static_cast<std::size_t>(sent)};
    return {.events = sent < 0 && may_be_repeated(errno) ? short{POLLOUT} : short{0}};
}

int Connection::receive(std::span<char> out, std::size_t& bytes) noexcept {
    bool is_ready = wait_for_bytes(until_);
    while (is_ready) {
        const SecureChannel::Step step = receive_step(out);
        bytes = step.bytes;
        if (bytes != 0) return 0;
        if (step.events == 0) return peer_left;
        is_ready = wait_for(step.events, until_);
    }
    return server_ends_ ? peer_left : 408;
}

int Connection::read_head(std::string& head) {
    if (std::exchange(has_begun_, true) && received_.empty() &&
        !wait_for_bytes(Clock::now() + times_.idle)) {
        return peer_left;
    }
    until_ = Clock::now() + times_.request;
    std::array<char, 2048> piece{};
    for (std::size_t before = 0;;) {
        const std::size_t end = received_.find(head_end, before);
        const bool is_whole = end != std::string::npos;
        if ((is_whole ? end : received_.size()) > head_bytes_max) return 431;
        if (is_whole) {
            head.assign(received_, 0, end + head_end.size());
            received_.erase(0, head.size());
            return 0;
        }
        before = received_.size() < head_end.size() ? 0 : received_.size() - head_end.size();
        std::size_t bytes = 0;
        if (const int fault = receive(piece, bytes); fault != 0) return fault;
        received_.append(piece.data(), bytes);
    }
}

int Connection::read_some(std::span<char> out, std::size_t& bytes) {
    if (received_.empty()) return receive(out, bytes);
    bytes = received_.copy(out.data(), out.size());
    received_.erase(0, bytes);
    return 0;
}

bool Connection::write(std::string_view text) noexcept {
    const auto until = Clock::now() + times_.response;
    while (!text.empty()) {
        const SecureChannel::Step step = send_step(text);
        text.remove_prefix(step.bytes);
        if (step.bytes != 0) continue;
        if (step.events == 0 || !wait_for(step.events, until)) return false;
    }
    return true;
}

Connection::Waited Connection::wait_until(Clock::time_point until) noexcept {
    std::array<char, 2048> piece{};
    for (;;) {
        if (!wait_for_bytes(until)) {
            return server_ends_ ? Waited::server_ends : Waited::until_then;
        }
        const SecureChannel::Step step = receive_step(piece);
        if (step.bytes == 0 && step.events == 0) return Waited::peer_left;
    }
}

// A socket that is closed with bytes unread resets the connection, and the peer may lose what it
// was sent.
void Connection::finish() noexcept {
    if (channel_) channel_->announce_end();
    ::shutdown(socket_.get(), SHUT_WR);
    std::array<char, 2048> piece{};
    const auto until = Clock::now() + times_.leaving;
    while (Clock::now() < until && wait_for(POLLIN, until)) {
        if (::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT) <= 0) return;
    }
}

}  // namespace strid::http
