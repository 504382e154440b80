// SPDX-License-Identifier: Apache-2.0
#include "session/data_link.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "fix/decoder.hpp"
#include "fix/time_text.hpp"

namespace strid::exchange {

using fix::Message;
using fix::Tag;
using namespace std::chrono_literals;

namespace {

constexpr int poll_ms = 100;
constexpr int connect_ms = 1000;
constexpr int logon_polls = 50;
constexpr auto retry = 100ms;
constexpr auto confirm_after = 20ms;
constexpr auto heartbeat = 1s;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
constexpr std::size_t batch_bytes = std::size_t{64} << 10;

Message control(std::string_view type, std::int64_t next_report) {
    Message message(type);
    message.set(Tag::sending_time, fix::utc_timestamp());
    message.set(Tag::next_expected_msg_seq_num, next_report);
    return message;
}

}  // namespace

DataLink::DataLink(Endpoint endpoint, Begin begin, Hooks hooks, const Log& log)
    : endpoint_(std::move(endpoint)),
      hooks_(std::move(hooks)),
      log_(log),
      confirmed_count_(1),
      unconfirmed_(std::make_move_iterator(begin.commands.begin()),
                   std::make_move_iterator(begin.commands.end())),
      confirmed_(unconfirmed_.empty() ? begin.next_command : unconfirmed_.front().sequence),
      next_to_send_(confirmed_),
      next_command_(begin.next_command),
      reports_durable_(begin.reports.next),
      reports_(std::move(begin.reports)) {
    confirmed_count_.store(confirmed_, std::memory_order_relaxed);
    for (const StoredCommand& command : unconfirmed_) unconfirmed_bytes_ += command.bytes.size();
}

DataLink::~DataLink() {
    stop();
}

void DataLink::start() {
    reader_ = std::thread([this] { run_reader(); });
    writer_ = std::thread([this] { run_writer(); });
}

void DataLink::stop() {
    {
        const std::lock_guard lock{mutex_};
        ended_.store(true, std::memory_order_relaxed);
        socket_.shut_down();
        changed_.notify_all();
        room_.notify_all();
    }
    if (reader_.joinable()) reader_.join();
    if (writer_.joinable()) writer_.join();
}

void DataLink::add(std::vector<StoredCommand> commands) {
    const std::lock_guard lock{mutex_};
    for (StoredCommand& command : commands) {
        next_command_ = command.sequence + 1;
        unconfirmed_bytes_ += command.bytes.size();
        unconfirmed_.push_back(std::move(command));
    }
    changed_.notify_one();
}

bool DataLink::wait_for_room(std::size_t commands_max, std::size_t bytes_max) {
    std::unique_lock lock{mutex_};
    room_.wait(lock, [&] {
        return ended() || (unconfirmed_.size() < commands_max && unconfirmed_bytes_ < bytes_max);
    });
    return !ended();
}

void DataLink::confirm_reports_below(std::int64_t report) {
    const std::lock_guard lock{mutex_};
    if (report <= reports_durable_) return;
    reports_durable_ = report;
    changed_.notify_one();
}

void DataLink::confirm_commands_below(std::int64_t sequence) {
    const std::lock_guard lock{mutex_};
    while (!unconfirmed_.empty() && unconfirmed_.front().sequence < sequence) {
        unconfirmed_bytes_ -= unconfirmed_.front().bytes.size();
        unconfirmed_.pop_front();
    }
    if (sequence <= confirmed_) return;
    confirmed_ = sequence;
    confirmed_count_.store(sequence, std::memory_order_relaxed);
    room_.notify_all();
}

// Reading

void DataLink::run_reader() {
    bool logged = false;
    while (!ended()) {
        try {
            Socket made = connect_to(endpoint_, connect_ms);
            {
                const std::lock_guard lock{mutex_};
                if (ended()) return;
                socket_ = std::move(made);
            }
            if (log_on(socket_)) {
                logged = false;
                log_.say("the data manager is connected");
                read(socket_);
                if (!ended()) log_.say("the data manager is gone");
            }
        } catch (const InputOutputError& error) {
            if (!std::exchange(logged, true))
                log_.say(fmt::format("{}: tried again", error.what()));
        } catch (const fix::FieldError& error) {
            log_.say(fmt::format("the data manager sends a wrong message: {}", error.what()));
        }
        end_connection();
    }
}

void DataLink::end_connection() {
    // A writer that waits for room lets go of the descriptor before that is closed.
    socket_.shut_down();
    std::unique_lock lock{mutex_};
    connected_ = false;
    room_.wait(lock, [this] { return !sending_; });
    changed_.wait_for(lock, retry, [this] { return ended(); });
}

bool DataLink::log_on(Socket& socket) {
    std::int64_t wanted = 0;
    {
        const std::lock_guard lock{mutex_};
        wanted = reports_durable_;
        reports_confirmed_ = wanted;
    }
    // Those that are durable here may be more than those that were done when this process began.
    reports_.next = std::max(reports_.next, wanted);
    Message logon = control("A", wanted);
    logon.set(Tag::encrypt_method, 0).set(Tag::heart_bt_int, 0);
    if (!socket.send_all(logon.encode())) return false;
    fix::Decoder decoder(fix::link_body_bytes_max);
    Message answer;
    for (int polls = 0; polls < logon_polls && !ended(); ++polls) {
        if (!socket.wait_readable(poll_ms)) continue;
        std::string bytes;
        // The Logon alone: the bytes behind it are for read().
        if (socket.receive_some(bytes, 1) < 0) return false;
        decoder.feed(bytes);
        const fix::Decoded outcome = decoder.next(answer);
        if (outcome == fix::Decoded::message && answer.is("5")) {
            hooks_.fail(fmt::format("the data manager refuses the link: {}",
                                    answer.get_or(Tag::text, "no reason given")));
            return false;
        }
        if (outcome == fix::Decoded::garbled ||
            (outcome == fix::Decoded::message && !answer.is("A"))) {
            log_.say("the data manager does not answer with a Logon");
            return false;
        }
        if (outcome == fix::Decoded::more) {
            --polls;
            continue;
        }
        const std::int64_t next = answer.integer(Tag::next_expected_msg_seq_num);
        std::unique_lock lock{mutex_};
        if (next < confirmed_ || next > next_command_) {
            const std::string text = fmt::format(
                "the data manager expects command {}, the store of the session manager has {} to "
                "{}: they do not belong together",
                next, confirmed_, next_command_ - 1);
            lock.unlock();
            hooks_.fail(text);
            return false;
        }
        next_report_ = wanted;
        next_to_send_ = next;
        connected_ = true;
        lock.unlock();
        confirm_commands_below(next);
        changed_.notify_one();
        return true;
    }
    return false;
}

void DataLink::read(Socket& socket) {
    fix::Decoder decoder(fix::link_body_bytes_max);
    std::string bytes;
    Message message;
    while (!ended()) {
        decoder.feed(bytes);
        bytes.clear();
        while (true) {
            const fix::Decoded outcome = decoder.next(message);
            if (outcome == fix::Decoded::more) break;
            if (outcome == fix::Decoded::garbled) {
                log_.say("the data manager sends garbled bytes: " + decoder.garbled().text);
                return;
            }
            if (!handle(message)) return;
        }
        while (!ended() && !socket.wait_readable(poll_ms)) {
        }
        if (!ended() && socket.receive_some(bytes, chunk_bytes) < 0) return;
    }
}

bool DataLink::handle(const Message& message) {
    if (message.is("0")) {
        confirm_commands_below(message.integer_or(Tag::next_expected_msg_seq_num, 0));
        return true;
    }
    if (message.is("5")) {
        log_.say(fmt::format("the data manager ends the link: {}", message.get_or(Tag::text, "")));
        return false;
    }
    const std::int64_t report = message.integer(Tag::msg_seq_num);
    if (report > next_report_) {
        log_.say(fmt::format("the data manager sends report {} in the place of {}", report,
                             next_report_));
        return false;
    }
    if (report < next_report_) return true;
    ++next_report_;
    // One that overtook another before this process began, or before the link was made anew.
    if (reports_.is_done(report)) return true;
    reports_.done(report);
    Event event;
    event.kind = Event::Kind::report;
    event.user = message.get(Tag::target_comp_id);
    event.message = std::make_shared<const Message>(message);
    event.report = report;
    return hooks_.take(std::move(event));
}

// Writing

std::string DataLink::take_batch() {
    std::string bytes;
    if (reports_durable_ > reports_confirmed_) {
        reports_confirmed_ = reports_durable_;
        control("0", reports_confirmed_).encode_to(bytes);
    }
    const auto first =
        static_cast<std::size_t>(std::max<std::int64_t>(next_to_send_ - confirmed_, 0));
    for (std::size_t at = first; at < unconfirmed_.size() && bytes.size() < batch_bytes; ++at) {
        bytes += unconfirmed_[at].bytes;
        next_to_send_ = unconfirmed_[at].sequence + 1;
    }
    return bytes;
}

void DataLink::run_writer() {
    std::unique_lock lock{mutex_};
    auto confirmed_at = std::chrono::steady_clock::now();
    while (!ended()) {
        const auto has_commands = [this] { return connected_ && next_to_send_ < next_command_; };
        const bool unconfirmed = connected_ && reports_durable_ > reports_confirmed_;
        changed_.wait_for(
            lock, unconfirmed ? std::chrono::milliseconds(confirm_after) : heartbeat, [&] {
                return ended() || has_commands() ||
                       (!unconfirmed && connected_ && reports_durable_ > reports_confirmed_);
            });
        if (ended() || !connected_) continue;
        const auto now = std::chrono::steady_clock::now();
        const bool is_time = now - confirmed_at >= confirm_after;
        if (!has_commands() && !is_time) continue;
        std::string bytes = take_batch();
        if (bytes.empty() && now - confirmed_at >= heartbeat)
            control("0", reports_confirmed_).encode_to(bytes);
        if (is_time) confirmed_at = now;
        if (bytes.empty()) continue;
        sending_ = true;
        lock.unlock();
        // A link that breaks is noticed by the thread that reads.
        (void)socket_.send_all(bytes);
        lock.lock();
        sending_ = false;
        room_.notify_all();
    }
}

}  // namespace strid::exchange
