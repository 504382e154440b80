// SPDX-License-Identifier: Apache-2.0
#include "data/link_source.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "fix/time_text.hpp"

namespace strid::exchange {

namespace {

constexpr int wait_ms = 1'000;
constexpr std::size_t receive_bytes = std::size_t{64} << 10;
// A message of a client, and what the session manager adds to it.
constexpr std::size_t body_bytes_max = 4 * fix::body_bytes_max;
constexpr std::int64_t logon_patience_ns = 3'000'000'000;
constexpr std::size_t peers_max = 16;

std::string logout(std::string_view why) {
    fix::Message message{"5"};
    message.set(fix::Tag::sender_comp_id, "DATA");
    message.set(fix::Tag::sending_time, fix::utc_timestamp());
    message.set(fix::Tag::text, why);
    return message.encode();
}

/// Ends a link: thrown where a message is handled.
struct LinkFault {
    std::string why;
};

}  // namespace

LinkServer::LinkServer(Socket listener, std::vector<Task> restored, CommandNumber next_command,
                       std::shared_ptr<const Listing> listing, Progress& progress, Sender& sender,
                       const Log& log)
    : listener_(std::move(listener)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      restored_(std::make_move_iterator(restored.begin()), std::make_move_iterator(restored.end())),
      next_command_(next_command),
      listing_(std::move(listing)),
      progress_(progress),
      sender_(sender),
      log_(log) {
    if (!wake_) throw InputOutputError("cannot make an eventfd");
    set_non_blocking(listener_);
}

void LinkServer::open(const Context& context) {
    repeated_ = context.counter("repeated_commands");
    ended_links_ = context.counter("ended_links");
}

void LinkServer::stop() noexcept {
    const std::uint64_t one = 1;
    (void)!::write(wake_.descriptor(), &one, sizeof one);
}

void LinkServer::gather(std::vector<Task>& tasks, std::size_t tasks_max) {
    while (!restored_.empty() && tasks.size() != tasks_max) {
        tasks.push_back(std::move(restored_.front()));
        restored_.pop_front();
    }
    if (!restored_.empty() || tasks.size() == tasks_max) return;
    wait();
    for (Peer& peer : peers_) {
        if (!peer.is_gone) decode(peer, tasks, tasks_max);
        const bool is_silent = !peer.is_gone && !peer.is_logged_on;
        if (is_silent && now_ns() - peer.since_ns > logon_patience_ns) end(peer, "no Logon came");
    }
    std::erase_if(peers_, [](const Peer& peer) { return peer.is_gone; });
    had_tasks_ = !tasks.empty();
}

// After tasks the poll looks and does not wait: emitted commands go on their way first.
void LinkServer::wait() {
    std::vector<pollfd> waited{{listener_.descriptor(), POLLIN, 0},
                               {wake_.descriptor(), POLLIN, 0}};
    bool has_more = had_tasks_;
    for (const Peer& peer : peers_) {
        waited.push_back({peer.socket->descriptor(), POLLIN, 0});
        has_more = has_more || peer.has_more;
    }
    if (::poll(waited.data(), waited.size(), has_more ? 0 : wait_ms) <= 0) return;
    for (std::size_t i = 0; i != peers_.size(); ++i) {
        if (waited[i + 2].revents != 0 && !peers_[i].has_more) receive(peers_[i]);
    }
    if (waited[0].revents != 0) accept();
}

void LinkServer::accept() {
    const int made = ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (made < 0) return;  // it was gone already
    auto socket = std::make_shared<Socket>(made);
    if (peers_.size() == peers_max) {
        (void)socket->send_some(logout("too many connections"));
        return;
    }
    set_no_delay(*socket);
    peers_.push_back(Peer{.socket = std::move(socket),
                          .decoder = fix::Decoder(body_bytes_max),
                          .since_ns = now_ns()});
}

void LinkServer::receive(Peer& peer) {
    std::string bytes;
    if (peer.socket->receive_some(bytes, receive_bytes) >= 0) {
        peer.decoder.feed(bytes);
        return;
    }
    if (peer.is_logged_on) log_.say("the session manager is gone");
    sender_.detach(peer.socket, "the connection has ended");
    peer.is_gone = true;
}

void LinkServer::decode(Peer& peer, std::vector<Task>& tasks, std::size_t tasks_max) {
    fix::Message message;
    try {
        for (peer.has_more = true; tasks.size() < tasks_max && !peer.is_gone;) {
            switch (peer.decoder.next(message)) {
                case fix::Decoded::more:
                    peer.has_more = false;
                    return;
                case fix::Decoded::garbled:
                    throw LinkFault{"a garbled message: " + peer.decoder.garbled().text};
                case fix::Decoded::message:
                    break;
            }
            if (const auto& fault = peer.decoder.fault()) throw LinkFault{fault->text};
            handle(peer, message, tasks);
        }
    } catch (const LinkFault& fault) {
        end(peer, fault.why);
    } catch (const fix::FieldError& error) {
        end(peer, error.what());
    }
}

void LinkServer::handle(Peer& peer, const fix::Message& message, std::vector<Task>& tasks) {
    if (message.is("A")) {
        log_on(peer, message);
    } else if (!peer.is_logged_on) {
        throw LinkFault{"the first message is no Logon"};
    } else if (message.is("0")) {
        const std::int64_t next = message.integer_or(fix::Tag::next_expected_msg_seq_num, 1);
        // Pairs with the store of the committer.
        const std::uint64_t last = progress_.last_report.load(std::memory_order_acquire);
        if (next < 1 || static_cast<std::uint64_t>(next) > last + 1) {
            throw LinkFault{fmt::format("report {} was never made", next)};
        }
        const auto stored = static_cast<std::uint64_t>(next) - 1;
        // Relaxed: this thread alone writes it, and only the number is published.
        if (stored > progress_.acknowledged.load(std::memory_order_relaxed)) {
            progress_.acknowledged.store(stored, std::memory_order_relaxed);
        }
    } else if (message.is("5")) {
        end(peer, "the session manager logs out");
    } else {
        take_command(message, tasks);
    }
}

void LinkServer::log_on(Peer& peer, const fix::Message& message) {
    if (peer.is_logged_on) throw LinkFault{"a second Logon"};
    const std::int64_t asked = message.integer(fix::Tag::next_expected_msg_seq_num);
    // Each pairs with a store of the committer.
    const std::uint64_t last = progress_.last_report.load(std::memory_order_acquire);
    const std::uint64_t deleted = progress_.deleted_reports.load(std::memory_order_acquire);
    if (asked < 1 || static_cast<std::uint64_t>(asked) > last + 1) {
        throw LinkFault{fmt::format(
            "report {} is asked for, but the journal ends with {}: it is not the journal of this "
            "session manager, or was cut",
            asked, last)};
    }
    if (static_cast<std::uint64_t>(asked) <= deleted) {
        throw LinkFault{
            fmt::format("report {} is asked for, but those up to {} were acknowledged and are gone",
                        asked, deleted)};
    }
    for (Peer& other : peers_) {
        if (other.is_gone || !other.is_logged_on) continue;
        end(other, "another session manager has logged on");
    }
    peer.is_logged_on = true;
    sender_.attach(peer.socket, static_cast<std::uint64_t>(asked));
    log_.say(fmt::format("the session manager has logged on; next command {}, next report {}",
                         next_command_, asked));
}

void LinkServer::take_command(const fix::Message& message, std::vector<Task>& tasks) {
    Command command = read_command(message);
    if (command.number > next_command_) {
        throw LinkFault{fmt::format("command {} came in the place of {}: commands are missing",
                                    command.number, next_command_)};
    }
    if (command.number < next_command_) {
        repeated_.add(1);
        return;
    }
    ++next_command_;
    const bool has_book = is_identifier(command.user) && listing_->refusal(command.symbol).empty();
    std::string symbol = has_book ? command.symbol : std::string();
    tasks.push_back({std::move(symbol), std::move(command)});
}

void LinkServer::end(Peer& peer, const std::string& why) {
    ended_links_.add(1);
    log_.say("a link ends: " + why);
    if (peer.is_logged_on) {
        sender_.detach(peer.socket, why);
    } else {
        // The sender does not know it.
        (void)peer.socket->send_some(logout(why));
        peer.socket->shut_down();
    }
    peer.is_gone = true;
}

}  // namespace strid::exchange
