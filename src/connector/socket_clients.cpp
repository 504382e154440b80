// SPDX-License-Identifier: Apache-2.0
#include "socket_clients.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>

#include "run_of_input.hpp"

namespace strid::detail {

namespace {

using namespace std::chrono_literals;

constexpr int clients_backlog = 128;
constexpr std::size_t client_piece_bytes = std::size_t{64} << 10;
/// A handshake that is not over then holds a place of a client for nothing.
constexpr auto client_handshake_wait = 10s;
/// At a stop what has arrived is taken, for so long.
constexpr auto client_last_wait = 1s;

/// Each client has one text in the queue, which is one message and what came with it at most.
std::size_t queue_bytes(const SocketInputPlace& place) {
    return place.clients_max * 2 * (place.message_bytes_max + 2 * client_piece_bytes);
}

int milliseconds_until(std::chrono::steady_clock::time_point until) noexcept {
    if (until == std::chrono::steady_clock::time_point::max()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

}  // namespace

SocketClients::SocketClients(SocketInputPlace place)
    : name_(place.text),
      run_(RunOfInput::current()),
      queue_bytes_(queue_bytes(place)),
      queue_(queue_bytes_),
      settings_(made(place)),
      listener_(place.address, clients_backlog),
      ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      connections_(
          place.clients_max, [this](http::Descriptor socket) { serve(std::move(socket)); },
          "strid-socket") {
    if (ending_.get() < 0) {
        throw InputOutputError(name_ + ": " + std::generic_category().message(errno));
    }
    thread_ = std::thread([this] {
        name_this_thread("strid-socket");
        connections_.take_while_free(listener_.listener(), ending_.get());
    });
    reload_.add(name_.substr(0, name_.find('?')),
                [this](const std::string& text) { return prepare(text); });
}

std::shared_ptr<const SocketClients::Settings> SocketClients::made(
    const SocketInputPlace& place) const {
    http::TlsFiles files = place.tls;
    files.owner = this;
    return std::make_shared<Settings>(Settings{place, http::tls_server(files, name_)});
}

std::shared_ptr<const SocketClients::Settings> SocketClients::settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
}

Reloads::Change SocketClients::prepare(const std::string& text) {
    TransportAddress address(text);
    const SocketInputPlace place(address);
    const auto now = settings();
    const SocketInputPlace& before = now->place;
    if (place.clients_max == 0) address.refuse("the number of clients cannot be left out in a run");
    if (place.framing != before.framing) address.refuse("framing cannot change in a run");
    if (place.tls.certificate.empty() != before.tls.certificate.empty()) {
        address.refuse("connections cannot begin or cease to be encrypted in a run");
    }
    return [this, next = made(place)] {
        // Clients that are connected keep their limits.
        queue_bytes_ = std::max(queue_bytes_, queue_bytes(next->place));
        queue_.set_bytes_max(queue_bytes_);
        connections_.set_threads_max(next->place.clients_max);
        const std::lock_guard lock(mutex_);
        settings_ = next;
    };
}

SocketClients::~SocketClients() {
    queue_.close();
    end_taking();
    connections_.end();
    warn_of_all();
}

/// From now on no client comes, and those that are there have no time.
void SocketClients::end_taking() noexcept {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    (void)!::write(ending_.get(), &one, sizeof one);  // never read: it stays readable
    thread_.join();
}

void SocketClients::take_last() noexcept {
    queue_.end_waiting();
    end_taking();
    connections_.wait_until_idle(client_last_wait);
}

void SocketClients::serve(http::Descriptor socket) noexcept {
    try {
        const auto by = settings();
        PeerStream peer(std::move(socket), by->tls);
        serve(peer, by->place);
    } catch (const std::exception&) {  // no memory: the connection is closed
    }
}

void SocketClients::serve(PeerStream& peer, const SocketInputPlace& place) {
    MessageCutter cutter(place.framing, place.message_bytes_max);
    const auto buffer = std::make_unique<std::array<char, client_piece_bytes>>();
    const auto handshake_until = Clock::now() + client_handshake_wait;
    std::string whole;
    // A client that sends all the time does not delay the end.
    while (!queue_.is_closed()) {
        const PeerStream::Step step = peer.receive(*buffer);
        if (step.bytes != 0) {
            const bool is_short = cutter.add({buffer->data(), step.bytes}, whole);
            if (!hand_on(whole)) return;
            if (is_short) continue;
            note(Fault::too_long, fmt::format("a message of a client has more than {} bytes: its "
                                              "connection was closed",
                                              place.message_bytes_max));
            return;
        }
        const bool shakes_hands = peer.is_in_handshake();
        if (step.events != 0) {
            auto until = Clock::time_point::max();
            if (place.idle.count() != 0) until = Clock::now() + place.idle;
            if (shakes_hands) until = handshake_until;
            if (wait_for(peer, step.events, until)) continue;
            if (Clock::now() >= until) {
                note(shakes_hands ? Fault::handshake : Fault::silent,
                     shakes_hands ? "TLS: a client has not ended its handshake in 10 s"
                                  : "a client was silent for the time of idle");
            }
        } else if (shakes_hands) {
            const std::string& error = peer.error();
            note(Fault::handshake,
                 fmt::format("a client was refused: {}",
                             error.empty() ? "TLS: it has closed the connection" : error));
        }
        break;
    }
    peer.announce_end();
    if (cutter.has_begun()) {
        note(Fault::cut_off, "a message that a client had not ended when it went was dropped");
    }
}

/// False: the time is over, or the input ends and nothing has arrived.
bool SocketClients::wait_for(const PeerStream& peer, short events, Clock::time_point until) {
    for (;;) {
        std::array<::pollfd, 2> waited{
            {{peer.descriptor(), events, 0}, {ending_.get(), POLLIN, 0}}};
        const int ready = ::poll(waited.data(), waited.size(), milliseconds_until(until));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        return waited[0].revents != 0;
    }
}

/// False: nothing more is taken, because the input has ended.
bool SocketClients::hand_on(std::string& whole) {
    if (whole.empty()) return true;
    const auto outcome = queue_.hand_on(std::exchange(whole, {}));
    if (outcome == BodyQueue::Outcome::refused) {
        note(Fault::came_late, "messages that came while the input ended were dropped");
    }
    return outcome == BodyQueue::Outcome::taken || outcome == BodyQueue::Outcome::waits;
}

/// The first of its kind is warned of at once, all together at the end.
void SocketClients::note(Fault fault, const std::string& reason) {
    {
        const std::lock_guard lock(mutex_);
        if (++counts_[static_cast<std::size_t>(fault)] != 1) return;
    }
    if (run_ != nullptr) run_->warn(name_ + ": " + reason);
}

void SocketClients::warn_of_all() {
    static constexpr std::array<const char*, faults> kinds = {
        "messages that clients had not ended when they went were dropped",
        "messages were too long, and their connections were closed", "handshakes of TLS failed",
        "clients were closed because they were silent",
        "clients have sent messages while the input ended, which were dropped"};
    for (std::size_t i = 0; i != faults; ++i) {
        if (counts_[i] < 2 || run_ == nullptr) continue;
        run_->warn(fmt::format("{}: {} {}", name_, counts_[i], kinds[i]));
    }
}

}  // namespace strid::detail
