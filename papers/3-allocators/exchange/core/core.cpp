// SPDX-License-Identifier: Apache-2.0
#include "core/core.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#ifdef STRID_HAS_TLS
#include <strid/tls/tls.hpp>
#endif

#include "link/core_tags.hpp"

namespace strid::exchange {

namespace {

constexpr int backlog = 4096;
constexpr int poll_ms = 100;
constexpr std::int64_t retry_ns = 200'000'000;
constexpr std::int64_t check_ns = 500'000'000;
constexpr int connect_ms = 500;
constexpr int events_max = 256;
constexpr std::size_t chunk_bytes = std::size_t{16} << 10;
constexpr std::size_t session_output_max = std::size_t{4} << 20;
constexpr std::size_t batch_frames = 64;
constexpr std::size_t batch_bytes = std::size_t{256} << 10;
constexpr std::uint64_t garbled_max = 100;

Socket make(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw InputOutputError(std::string(what) + ": " + std::generic_category().message(errno));
    }
    return Socket(descriptor);
}

std::string name_of(const sockaddr_storage& address, socklen_t size) {
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port,
                      sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return "a local client";
    }
    return fmt::format("{}:{}", host, port);
}

}  // namespace

Core::Core(const CoreOptions& options, const Log& log)
    : options_(options),
      log_(log),
      tls_(http::tls_server({options.tls_certificate, options.tls_key}, "--tls-certificate")),
      listener_(listen_on(options_.listen, backlog)),
      readable_(make(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      writable_(make(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      wake_(make(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      translation_(options.workers, [descriptor = wake_.descriptor()] {
          const std::uint64_t one = 1;
          // Full: the thread that polls is woken anyway.
          (void)!::write(descriptor, &one, sizeof one);
      }) {
    set_non_blocking(listener_);
}

Core::~Core() = default;

Client* Core::find(std::uint64_t number) {
    const auto found = clients_.find(number);
    return found != clients_.end() ? found->second.get() : nullptr;
}

bool Core::is_held_back() const noexcept {
    return frames_.frames.size() >= batch_frames || frames_bytes_ >= batch_bytes ||
           session_output_.size() - session_written_ >= session_output_max;
}

void Core::run(const std::atomic<bool>& ended) {
    while (!ended.load(std::memory_order_relaxed)) {
        now_ns_ = strid::now_ns();
        if (!session_ && now_ns_ >= retry_ns_) connect_session();
        poll_once();
        check_time();
    }
    for (const auto& [number, client] : clients_)
        (void)client->send_some(std::string_view(client->output).substr(client->written));
}

void Core::poll_once() {
    std::array<pollfd, 5> polled{{{wake_.descriptor(), POLLIN, 0},
                                  {session_.descriptor(), POLLIN, 0},
                                  {listener_.descriptor(), POLLIN, 0},
                                  {readable_.descriptor(), POLLIN, 0},
                                  {writable_.descriptor(), POLLIN, 0}}};
    auto& [wake, session, listener, readable, writable] = polled;
    if (session_ && session_written_ < session_output_.size()) {
        session.events = static_cast<short>(session.events | POLLOUT);
    }
    // Frames of the link for which there is no room wait in the socket.
    if (!link_frames_.frames.empty()) session.events = static_cast<short>(session.events & ~POLLIN);
    if (!session_ || clients_.size() >= options_.clients_max) listener.fd = -1;
    if (is_held_back()) readable.fd = -1;
    if (::poll(polled.data(), polled.size(), poll_ms) < 0 && errno != EINTR) {
        throw InputOutputError("poll: " + std::generic_category().message(errno));
    }
    if (wake.revents != 0) {
        std::uint64_t count = 0;
        (void)!::read(wake_.descriptor(), &count, sizeof count);
    }
    if ((session.revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive_session();
    if (listener.revents != 0) accept_clients();
    if (readable.revents != 0) receive_clients();
    give_frames();
    give_link_frames();
    take_results();
    flush_session();
    if (writable.revents != 0) flush_waiting();
    flush_touched();
    // Marks and ends of clients that came with their output.
    give_frames();
}

// The session manager

void Core::connect_session() {
    retry_ns_ = now_ns_ + retry_ns;
    try {
        session_ = connect_to(options_.session, connect_ms);
        ++link_;
        session_cutter_ = fix::FrameCutter(fix::link_body_bytes_max);
        session_output_.clear();
        session_written_ = 0;
        reported_ = false;
        log_.say("the session manager is connected");
    } catch (const InputOutputError& error) {
        if (!std::exchange(reported_, true)) log_.say(fmt::format("{}: tried again", error.what()));
    }
}

void Core::end_session(std::string_view why) {
    log_.say(fmt::format("the link to the session manager ends: {}; {} clients are closed", why,
                         clients_.size()));
    session_.close();
    // Their sessions are gone on the other side; they log on anew when there is one again.
    clients_.clear();
    output_bytes_ = 0;
    frames_.frames.clear();
    frames_bytes_ = 0;
    link_frames_.frames.clear();
    touched_.clear();
    session_output_.clear();
    session_written_ = 0;
}

void Core::receive_session() {
    chunk_.clear();
    if (session_.receive_some(chunk_, chunk_bytes * 4) < 0) return end_session("it is gone");
    session_cutter_.feed(chunk_);
    std::string_view frame;
    while (true) {
        const fix::Decoded outcome = session_cutter_.next(frame);
        if (outcome == fix::Decoded::more) return;
        if (outcome == fix::Decoded::garbled) return end_session(session_cutter_.garbled().text);
        link_frames_.frames.emplace_back(frame);
    }
}

void Core::flush_session() {
    if (!session_ || session_written_ == session_output_.size()) return;
    const std::string_view rest = std::string_view(session_output_).substr(session_written_);
    const std::ptrdiff_t sent = session_.send_some(rest);
    if (sent < 0) return end_session("it is gone");
    session_written_ += static_cast<std::size_t>(sent);
    if (session_written_ == session_output_.size()) {
        session_output_.clear();
        session_written_ = 0;
    } else if (session_written_ >= session_output_max) {
        session_output_.erase(0, std::exchange(session_written_, 0));
    }
}

// Clients

void Core::accept_clients() {
    for (int count = 0; count < events_max && clients_.size() < options_.clients_max; ++count) {
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        Socket socket(::accept4(listener_.descriptor(), reinterpret_cast<sockaddr*>(&address),
                                &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) {
            if (errno == EMFILE || errno == ENFILE) {
                // Those that are there go on; clients that end make room.
                log_.say("no more clients are accepted: " + std::generic_category().message(errno));
                options_.clients_max = std::max<std::size_t>(clients_.size(), 1);
            }
            return;
        }
        set_no_delay(socket);
        const std::uint64_t number = next_number_++;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP;
        event.data.u64 = number;
        if (::epoll_ctl(readable_.descriptor(), EPOLL_CTL_ADD, socket.descriptor(), &event) != 0) {
            continue;
        }
        auto client =
            std::make_unique<Client>(number, std::move(socket), name_of(address, size), now_ns_);
        try {
            if (tls_) client->tls = tls_(client->socket.descriptor());
        } catch (const std::bad_alloc&) {  // this one is closed
            continue;
        }
        clients_.emplace(number, std::move(client));
        if (clients_.size() == options_.clients_max) {
            log_.say(fmt::format("{} clients: no more are accepted", clients_.size()));
        }
    }
}

void Core::receive_clients() {
    std::array<epoll_event, events_max> events;
    const int count = ::epoll_wait(readable_.descriptor(), events.data(), events_max, 0);
    for (int at = 0; at < count; ++at) {
        Client* const client = find(events[static_cast<std::size_t>(at)].data.u64);
        if (client != nullptr) receive(*client);
        if (is_held_back()) {
            give_frames();
            if (is_held_back()) return;
        }
    }
}

void Core::receive(Client& client) {
    chunk_.clear();
    const std::ptrdiff_t received = client.receive_some(chunk_, chunk_bytes);
    if (received < 0) return end_client(client.number, client.error());
    if (received == 0 || client.closing) return;
    client.cutter.feed(chunk_);
    cut(client);
}

void Core::cut(Client& client) {
    std::string_view frame;
    while (true) {
        const fix::Decoded outcome = client.cutter.next(frame);
        if (outcome == fix::Decoded::more) break;
        if (outcome == fix::Decoded::message) {
            ++client.frames;
            client.message_since_ns = 0;
            frames_.frames.push_back({client.number, std::string(frame)});
            frames_bytes_ += frame.size();
            continue;
        }
        const std::string& why = client.cutter.garbled().text;
        if (client.frames == 0) return end_client(client.number, "no FIX 4.4: " + why);
        log_.say(fmt::format("{}: garbled, {} bytes are passed over: {}", client.name,
                             client.cutter.garbled().bytes, why));
        if (++client.garbled >= garbled_max) {
            return end_client(client.number, "too much of it is garbled");
        }
    }
    if (client.cutter.pending_bytes() == 0) {
        if (client.frames != 0) client.message_since_ns = 0;
    } else if (client.message_since_ns == 0) {
        client.message_since_ns = now_ns_;
    }
}

void Core::report_closed(std::uint64_t number) {
    if (!session_) return;
    fix::Message message(connection_closed);
    message.set(CoreTag::connection, static_cast<std::int64_t>(number));
    // By the way of its messages: none comes behind it.
    frames_.frames.push_back({0, message.encode()});
}

void Core::end_client(std::uint64_t number, std::string_view why) {
    const auto found = clients_.find(number);
    if (found == clients_.end()) return;
    if (!why.empty()) log_.say(fmt::format("{}: closed: {}", found->second->name, why));
    output_bytes_ -= found->second->output.size() - found->second->written;
    if (found->second->tls) found->second->tls->announce_end();
    clients_.erase(found);
    report_closed(number);
}

void Core::check_time() {
    if (now_ns_ < checked_ns_ + check_ns) return;
    checked_ns_ = now_ns_;
    std::vector<std::uint64_t> late;
    std::vector<std::uint64_t> deaf;
    for (const auto& [number, client] : clients_) {
        if (is_deaf(*client)) deaf.push_back(number);
        if (client->message_since_ns != 0 && !is_held_back() &&
            now_ns_ >= client->message_since_ns + options_.message_ns_max) {
            late.push_back(number);
        }
    }
    for (const std::uint64_t number : deaf) end_deaf(*find(number));
    end_largest_outputs();
    for (const std::uint64_t number : late)
        end_client(number, "a message takes too long to come, or the last ones to be read");
}

// The accelerator

void Core::give_frames() {
    if (frames_.frames.empty()) return;
    frames_.link = link_;
    if (!translation_.give(frames_)) return;
    frames_ = {};
    frames_bytes_ = 0;
}

void Core::give_link_frames() {
    if (link_frames_.frames.empty()) return;
    link_frames_.link = link_;
    if (translation_.give(link_frames_)) link_frames_ = {};
}

void Core::take_results() {
    for (LinkFrames& frames : translation_.take_link()) {
        if (frames.link != link_ || !session_) continue;
        session_output_ += frames.bytes;
        for (const LinkFrames::Garbled& one : frames.garbled) {
            Client* const client = find(one.client);
            if (client == nullptr) continue;
            log_.say(
                fmt::format("{}: garbled, the message is passed over: {}", client->name, one.text));
            if (++client->garbled >= garbled_max) {
                end_client(one.client, "too much of it is garbled");
            }
        }
    }
    for (ClientOutput& output : translation_.take_clients()) put_output(output);
}

}  // namespace strid::exchange
