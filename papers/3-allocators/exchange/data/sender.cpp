// SPDX-License-Identifier: Apache-2.0
#include "data/sender.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include <strid/base/error.hpp>

#include "data/journal_rows.hpp"
#include "fix/message.hpp"
#include "fix/time_text.hpp"

namespace strid::exchange {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t replay_reports = 1'000;  // read from the journal at once
constexpr auto stop_patience = 2s;
constexpr int send_poll_ms = 100;

std::size_t bytes_of(const Committed& committed) {
    std::size_t bytes = 0;
    for (const std::string& report : committed.reports) bytes += report.size();
    return bytes;
}

}  // namespace

Sender::Sender(OpenJournal open, Begin begin, SenderOptions options, const Log& log)
    : open_(std::move(open)),
      options_(options),
      log_(log),
      last_taken_(begin.last_report),
      next_command_(begin.next_command),
      thread_([this] { run(); }) {}

Sender::~Sender() {
    stop();
}

void Sender::stop() {
    {
        std::unique_lock lock{mutex_};
        if (std::exchange(stopped_, true)) return;
        room_.wait_for(lock, stop_patience,
                       [this] { return !has_link_ || (queue_.empty() && is_idle_); });
        ended_ = true;
        if (link_) link_->socket->shut_down();
        changed_.notify_all();
        room_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void Sender::publish(Committed&& committed) {
    const std::size_t bytes = bytes_of(committed);
    std::unique_lock lock{mutex_};
    room_.wait(lock,
               [this] { return ended_ || !has_link_ || queue_bytes_ < options_.queue_bytes_max; });
    queue_bytes_ += bytes;
    queue_.push_back(std::move(committed));
    changed_.notify_one();
}

void Sender::attach(std::shared_ptr<Socket> socket, std::uint64_t first_report) {
    const std::lock_guard lock{mutex_};
    if (link_) link_->socket->shut_down();
    link_ = std::make_shared<Link>(Link{std::move(socket), first_report, true, {}});
    has_link_ = true;
    changed_.notify_one();
}

void Sender::detach(const std::shared_ptr<Socket>& socket, std::string why) {
    const std::lock_guard lock{mutex_};
    if (!link_ || link_->socket != socket) return;
    link_->end = std::move(why);
    changed_.notify_one();
}

void Sender::run() {
    std::unique_lock lock{mutex_};
    while (!ended_) {
        is_idle_ = true;
        room_.notify_all();
        const bool is_notified = changed_.wait_for(lock, options_.heartbeat, [this] {
            return ended_ || !queue_.empty() || (link_ && (link_->is_new || !link_->end.empty()));
        });
        is_idle_ = false;
        if (ended_) return;
        if (!is_notified && link_) {
            const std::shared_ptr<Link> link = link_;
            lock.unlock();
            (void)send(*link, control("0"));
            lock.lock();
            continue;
        }
        serve(lock);
    }
}

void Sender::serve(std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<Link> link = link_;
    if (link && !link->end.empty()) {
        const std::string end = control("5", link->end);
        lock.unlock();
        (void)send(*link, end);
        link->socket->shut_down();
        lock.lock();
        if (link_ == link) drop_link();
    } else if (link && std::exchange(link->is_new, false)) {
        lock.unlock();
        if (send(*link, control("A"))) (void)replay(*link);
        lock.lock();
    }
    if (!queue_.empty()) send_queued(lock);
}

void Sender::send_queued(std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<Link> link = link_;
    const Committed committed = std::move(queue_.front());
    queue_.pop_front();
    queue_bytes_ -= bytes_of(committed);
    room_.notify_all();
    const std::uint64_t first = committed.first_report;
    last_taken_ = first + committed.reports.size() - 1;
    next_command_ = committed.last_command + 1;
    if (!link || link->is_new || !link->socket) return;  // a new one gets it from the journal
    lock.unlock();
    std::string bytes;
    for (std::uint64_t report = std::max(first, link->next_report); report <= last_taken_;
         ++report) {
        bytes += committed.reports[report - first];
    }
    bytes += control("0");  // the commands of the transaction are durable
    if (send(*link, bytes)) link->next_report = std::max(link->next_report, last_taken_ + 1);
    lock.lock();
}

// The reports up to the last one that left the queue: the next in the queue follows.
bool Sender::replay(Link& link) {
    try {
        while (link.next_report <= last_taken_) {
            if (!journal_) journal_ = open_();
            const std::uint64_t last = std::min(last_taken_, link.next_report + replay_reports - 1);
            std::string bytes;
            read_reports(
                *journal_, link.next_report, last, [&](std::uint64_t id, std::string_view message) {
                    if (id != link.next_report) {
                        throw InputOutputError(
                            fmt::format("report {} is not in the journal", link.next_report));
                    }
                    bytes += message;
                    ++link.next_report;
                });
            if (link.next_report != last + 1) {
                throw InputOutputError(
                    fmt::format("report {} is not in the journal", link.next_report));
            }
            if (!send(link, bytes)) return false;
        }
        return true;
    } catch (const InputOutputError& error) {
        log_.say(error.what());
        journal_.reset();
        link.socket->shut_down();
        return false;
    }
}

bool Sender::send(Link& link, std::string_view bytes) {
    auto patience = options_.send_patience;
    while (!bytes.empty()) {
        const std::ptrdiff_t sent = link.socket->send_some(bytes);
        if (sent < 0) {
            link.socket->shut_down();
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        if (sent > 0) patience = options_.send_patience;
        if (bytes.empty()) break;
        if (patience <= 0ms) {
            log_.say("the session manager takes nothing: the link is cut");
            link.socket->shut_down();
            return false;
        }
        pollfd room{link.socket->descriptor(), POLLOUT, 0};
        if (::poll(&room, 1, send_poll_ms) == 0)
            patience -= std::chrono::milliseconds(send_poll_ms);
    }
    return true;
}

std::string Sender::control(std::string_view type, std::string_view text) const {
    fix::Message message{type};
    message.set(fix::Tag::sender_comp_id, "DATA");
    message.set(fix::Tag::sending_time, fix::utc_timestamp());
    message.set(fix::Tag::next_expected_msg_seq_num, static_cast<std::int64_t>(next_command_));
    if (!text.empty()) message.set(fix::Tag::text, text);
    return message.encode();
}

void Sender::drop_link() {
    link_.reset();
    has_link_ = false;
    room_.notify_all();
}

}  // namespace strid::exchange
