// SPDX-License-Identifier: Apache-2.0
#include "load/client_session.hpp"

#include <utility>

#include "fix/time_text.hpp"

namespace strid::exchange::load {

using fix::Message;
using fix::Tag;

namespace {

constexpr std::int64_t heartbeat_s = 30;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

}  // namespace

void ClientSession::begin(Socket socket) {
    socket_ = std::move(socket);
    decoder_ = fix::Decoder();
    output_.clear();
    written_ = 0;
    state_ = State::connecting;
    Message logon("A");
    logon.set(Tag::encrypt_method, 0).set(Tag::heart_bt_int, heartbeat_s);
    if (!begun_) logon.set(Tag::reset_seq_num_flag, "Y");
    logon.set(Tag::next_expected_msg_seq_num, next_incoming_);
    // Until there is an answer the number may have to be used again: a reset is asked for again.
    const std::int64_t number = begun_ ? next_outgoing_++ : 1;
    put(std::move(logon), number);
}

void ClientSession::put(Message message, std::int64_t sequence) {
    message.set(Tag::msg_seq_num, sequence);
    message.set(Tag::sender_comp_id, user_).set(Tag::target_comp_id, exchange_);
    message.set(Tag::sending_time, fix::utc_timestamp());
    message.encode_to(output_);
}

void ClientSession::put_next(Message message) {
    put(std::move(message), next_outgoing_++);
}

void ClientSession::send(Message message) {
    const std::int64_t number = next_outgoing_++;
    if (state_ == State::on) put(message, number);
    sent_.emplace(number, std::move(message));
}

void ClientSession::log_out() {
    put_next(Message("5"));
    state_ = State::ended;
}

void ClientSession::close() {
    socket_.close();
    if (state_ != State::ended) state_ = State::closed;
}

bool ClientSession::flush() {
    if (!waits_for_room()) return true;
    const std::ptrdiff_t sent = socket_.send_some(std::string_view(output_).substr(written_));
    if (sent < 0) return false;
    written_ += static_cast<std::size_t>(sent);
    if (written_ == output_.size()) {
        output_.clear();
        written_ = 0;
    }
    return true;
}

bool ClientSession::receive() {
    while (true) {
        chunk_.clear();
        const std::ptrdiff_t received = socket_.receive_some(chunk_, chunk_bytes);
        if (received < 0) return false;
        if (received == 0) return true;
        decoder_.feed(chunk_);
        Message message;
        while (true) {
            const fix::Decoded outcome = decoder_.next(message);
            if (outcome == fix::Decoded::more) break;
            if (outcome == fix::Decoded::garbled) return false;
            handle(message);
        }
    }
}

void ClientSession::pass(std::int64_t next) {
    next_incoming_ = next;
    if (logon_number_ == next_incoming_) {
        ++next_incoming_;
        logon_number_ = 0;
    }
}

void ClientSession::handle(const Message& message) {
    const std::int64_t sequence = message.integer(Tag::msg_seq_num);
    if (message.is("A")) return on_logon(message, sequence);
    if (message.is("5")) logout_text_ = message.get_or(Tag::text, "logout");
    if (sequence < next_incoming_) return;
    if (sequence > next_incoming_) {
        if (message.is("5")) return;
        Message request("2");
        request.set(Tag::begin_seq_no, next_incoming_).set(Tag::end_seq_no, 0);
        return put_next(std::move(request));
    }
    if (message.is("4")) return pass(message.integer(Tag::new_seq_no));
    pass(next_incoming_ + 1);
    dispatch(message);
}

void ClientSession::on_logon(const Message& message, std::int64_t sequence) {
    state_ = State::on;
    if (!begun_) {
        begun_ = true;
        next_incoming_ = 2;
        if (next_outgoing_ == 1) next_outgoing_ = 2;
        return;
    }
    if (sequence == next_incoming_) {
        pass(sequence + 1);
    } else if (sequence > next_incoming_) {
        logon_number_ = sequence;
    }
    const std::int64_t wanted = message.integer_or(Tag::next_expected_msg_seq_num, next_outgoing_);
    if (wanted < next_outgoing_) resend(wanted, next_outgoing_ - 1);
}

void ClientSession::dispatch(const Message& message) {
    if (message.is("1")) {
        Message answer("0");
        answer.set(Tag::test_req_id, message.get(Tag::test_req_id));
        return put_next(std::move(answer));
    }
    if (message.is("2")) {
        const std::int64_t until = message.integer(Tag::end_seq_no);
        return resend(message.integer(Tag::begin_seq_no), until == 0 ? next_outgoing_ - 1 : until);
    }
    if (message.is("0") || message.is("5")) return;
    take_(message);
}

void ClientSession::resend(std::int64_t from, std::int64_t until) {
    const std::string now = fix::utc_timestamp();
    const auto gap = [&](std::int64_t begin, std::int64_t next) {
        Message message("4");
        message.set(Tag::poss_dup_flag, "Y").set(Tag::orig_sending_time, now);
        message.set(Tag::gap_fill_flag, "Y").set(Tag::new_seq_no, next);
        put(std::move(message), begin);
    };
    std::int64_t next = from;
    for (auto one = sent_.lower_bound(from); one != sent_.end() && one->first <= until; ++one) {
        if (one->first > next) gap(next, one->first);
        Message message = one->second;
        message.set(Tag::poss_dup_flag, "Y").set(Tag::orig_sending_time, now);
        put(std::move(message), one->first);
        next = one->first + 1;
    }
    if (next <= until) gap(next, until + 1);
}

}  // namespace strid::exchange::load
