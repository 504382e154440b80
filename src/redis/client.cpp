// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "entry_id.hpp"
#include "fault.hpp"

namespace strid::redis {

namespace {

constexpr ::timeval connect_wait{.tv_sec = 2, .tv_usec = 0};
constexpr std::int64_t greeting_ns = 2'000'000'000;
/// A server that neither takes nor sends a byte for so long is connected to again.
constexpr std::int64_t silence_ns = 5'000'000'000;
constexpr int look_ms = 50;  // how soon an interruption is seen
constexpr std::size_t receive_bytes = std::size_t{64} << 10;
constexpr int oldest_version = 7;

}  // namespace

std::string_view text_of(const ::redisReply& reply) noexcept {
    return reply.str == nullptr ? std::string_view{} : std::string_view(reply.str, reply.len);
}

const ::redisReply* find(const ::redisReply& list, std::string_view name) noexcept {
    for (std::size_t i = 0; i + 1 < list.elements; i += 2) {
        if (text_of(*list.element[i]) == name) return list.element[i + 1];
    }
    return nullptr;
}

void Client::open() {
    close();
    try {
        connect();
        greet();
    } catch (...) {
        close();
        throw;
    }
}

void Client::close() noexcept {
    context_.reset();
    out_.clear();
    sent_ = 0;
    unanswered_ = 0;
}

void Client::connect() {
    check_interruption();
    context_.reset(::redisConnectWithTimeout(place_.host.c_str(), place_.port, connect_wait));
    if (context_ == nullptr) throw InputOutputError(place_.address + ": no memory is left");
    if (context_->err != 0) {
        const std::string reason = static_cast<const char*>(context_->errstr);
        throw ConnectionLost(
            fmt::format("{}: no server of Redis answers: {}", place_.address, reason));
    }
    (void)::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
    moved_at_ns_ = now_ns();
}

/// As a user and to a database, with one answer each.
void Client::greet() {
    if (place_.password.empty()) {
        add({"HELLO", "2", "SETNAME", "strid"});
    } else {
        add({"HELLO", "2", "AUTH", place_.user.empty() ? "default" : place_.user, place_.password,
             "SETNAME", "strid"});
    }
    const std::int64_t until = now_ns() + greeting_ns;
    Reply about;
    while ((about = next(look_ms)) == nullptr) {
        if (now_ns() > until) {
            throw ConnectionLost(place_.address + ": no server of Redis answers");
        }
    }
    note_server(*about);
    was_open_ = true;
    if (place_.database != 0) (void)ask({"SELECT", std::to_string(place_.database)});
}

void Client::note_server(const ::redisReply& about) {
    const bool is_unknown =
        about.type == REDIS_REPLY_ERROR && text_of(about).starts_with("ERR unknown command");
    if (!is_unknown) check(about);
    const ::redisReply* const version = find(about, "version");
    int major = 0;
    if (version != nullptr) {
        const std::string_view text = text_of(*version);
        (void)read_number(text.substr(0, text.find('.')), major);
    }
    if (major < oldest_version) {
        throw InputOutputError(
            fmt::format("{}: the server is older than Redis {}", place_.address, oldest_version));
    }
    const ::redisReply* const role = find(about, "role");
    is_replica_ = role != nullptr && text_of(*role) != "master";
}

void Client::begin(std::size_t words) {
    fmt::format_to(std::back_inserter(out_), "*{}\r\n", words);
    ++unanswered_;
}

void Client::word(std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "${}\r\n", text.size());
    out_ += text;
    out_ += "\r\n";
}

void Client::add(std::initializer_list<std::string_view> words) {
    begin(words.size());
    for (const std::string_view text : words) word(text);
}

void Client::send_down_to(std::size_t bytes) {
    while (out_.size() - sent_ > bytes) {
        check_interruption();
        if (move(look_ms)) continue;
        if (now_ns() - moved_at_ns_ > silence_ns) fail_of_silence();
    }
}

Reply Client::next(int wait_ms) {
    const std::int64_t until = now_ns() + std::int64_t{wait_ms} * 1'000'000;
    for (;;) {
        void* found = nullptr;
        if (::redisReaderGetReply(context_->reader, &found) != REDIS_OK) {
            throw InputOutputError(place_.address + ": the server there is none of Redis");
        }
        if (found != nullptr) {
            if (unanswered_ != 0) --unanswered_;
            return Reply(static_cast<::redisReply*>(found));
        }
        check_interruption();
        const std::int64_t left_ms = std::max<std::int64_t>((until - now_ns()) / 1'000'000, 0);
        const bool has_moved = move(static_cast<int>(std::min<std::int64_t>(left_ms, look_ms)));
        if (!has_moved && left_ms == 0) return nullptr;
    }
}

Reply Client::answer() {
    for (;;) {
        if (Reply reply = next(look_ms)) {
            check(*reply);
            return reply;
        }
        if (now_ns() - moved_at_ns_ > silence_ns) fail_of_silence();
    }
}

Reply Client::ask(std::initializer_list<std::string_view> words) {
    moved_at_ns_ = now_ns();
    add(words);
    return answer();
}

/// Waits until bytes can be sent or received; whether any were.
bool Client::move(int wait_ms) {
    ::pollfd waited{.fd = context_->fd, .events = POLLIN, .revents = 0};
    if (sent_ != out_.size()) waited.events |= POLLOUT;
    const int ready = ::poll(&waited, 1, wait_ms);
    if (ready <= 0) return false;
    if ((waited.revents & POLLOUT) != 0) send_some();
    if ((waited.revents & ~POLLOUT) != 0) receive_some();
    moved_at_ns_ = now_ns();
    return true;
}

void Client::send_some() {
    const ::ssize_t sent =
        ::send(context_->fd, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        fail_of_end();
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ != out_.size()) return;
    out_.clear();
    sent_ = 0;
}

void Client::receive_some() {
    std::array<char, receive_bytes> bytes;
    const ::ssize_t got = ::recv(context_->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) fail_of_end();
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        fail_of_end();
    }
    if (::redisReaderFeed(context_->reader, bytes.data(), static_cast<std::size_t>(got)) !=
        REDIS_OK) {
        throw InputOutputError(place_.address + ": no memory is left for a reply of the server");
    }
}

void Client::check(const ::redisReply& reply) const {
    if (reply.type == REDIS_REPLY_ERROR) fail_of_reply(place_, text_of(reply));
}

void Client::check_interruption() const {
    if (is_interrupted_.load(std::memory_order_relaxed)) {  // orders nothing
        throw ConnectionLost(place_.address + ": interrupted");
    }
}

void Client::fail_of_silence() const {
    throw ConnectionLost(place_.address + ": the server does not answer");
}

void Client::fail_of_end() const {
    if (was_open_) throw ConnectionLost(place_.address + ": the server has closed the connection");
    throw ConnectionLost(
        place_.address +
        ": the server there closes the connection: it is none of Redis, or takes TLS only");
}

}  // namespace strid::redis
