// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fix/time_text.hpp"

namespace strid::exchange {

using fix::FieldError;
using fix::Message;
using fix::Reason;
using fix::Tag;

namespace {

/// Beyond it there would soon be no next number.
constexpr std::int64_t sequence_max = 1'000'000'000'000'000;
/// Reasons of a business reject (380).
constexpr int unsupported_message_type = 3;
constexpr int firm_not_available = 7;
/// DeliverToCompID: the firm that a message is to be handed on to.
constexpr int deliver_to_comp_id = 128;

}  // namespace

std::int64_t Session::read_sequence(const Message& message, int tag) {
    const std::int64_t sequence = message.integer(tag);
    if (sequence >= 1 && sequence <= sequence_max) return sequence;
    throw FieldError(tag, Reason::value_out_of_range,
                     fmt::format("tag {} is not from 1 to {}: {}", tag, sequence_max, sequence));
}

// Actions

Action& Session::act(Action::Kind kind, Actions& actions) {
    Action& action = actions.emplace_back();
    action.kind = kind;
    action.user = user_;
    action.connection = connection_;
    action.next_incoming = numbers_.next_incoming;
    action.next_outgoing = numbers_.next_outgoing;
    return action;
}

void Session::send(Message message, bool kept, Actions& actions, std::int64_t report) {
    send_now(std::move(message), kept, actions, report);
    if (resend_.next == 0 || hold(actions.back())) return;
    log_out(fmt::format("more than {} bytes wait behind a resend, of this session or of all",
                        rules_->waiting_bytes_max),
            actions);
}

void Session::send_now(Message message, bool kept, Actions& actions, std::int64_t report) {
    const std::int64_t sequence = numbers_.next_outgoing++;
    Action& action = act(Action::Kind::send, actions);
    action.sequence = sequence;
    action.kept = kept;
    action.report = report;
    action.message = with_header(std::move(message), sequence);
    sent_ns_ = now_ns_;
}

std::shared_ptr<const Message> Session::with_header(Message message, std::int64_t sequence) const {
    message.set(Tag::msg_seq_num, sequence);
    message.set(Tag::sender_comp_id, rules_->exchange).set(Tag::target_comp_id, user_);
    message.set(Tag::sending_time, fix::utc_timestamp());
    return std::make_shared<const Message>(std::move(message));
}

void Session::command(const Message& message, Actions& actions) {
    Message one(message.type());
    one.set(Tag::sender_comp_id, user_);
    for (const fix::Field& field : message) {
        if (!fix::is_header(field.tag)) one.add(field.tag, field.value);
    }
    act(Action::Kind::command, actions).message = std::make_shared<const Message>(std::move(one));
}

void Session::reject(const Message& message, int tag, int reason, std::string_view text,
                     Actions& actions) {
    Message answer("3");
    answer.set(Tag::ref_seq_num, message.integer_or(Tag::msg_seq_num, 0));
    if (tag > 0) answer.set(Tag::ref_tag_id, tag);
    answer.set(Tag::ref_msg_type, std::string_view(message.type()).substr(0, text_max));
    answer.set(Tag::session_reject_reason, reason);
    answer.set(Tag::text, text.substr(0, text_max));
    send(std::move(answer), true, actions);
}

void Session::log_out(const std::string& text, Actions& actions) {
    Message message("5");
    if (!text.empty()) message.set(Tag::text, text);
    send_now(std::move(message), false, actions);
    drop_connection(text, actions);
}

void Session::request_resend(Actions& actions) {
    Message message("2");
    message.set(Tag::begin_seq_no, numbers_.next_incoming).set(Tag::end_seq_no, 0);
    send(std::move(message), false, actions);
}

void Session::drop_connection(std::string reason, Actions& actions) {
    const ConnectionId connection = connection_;
    forget_connection(actions);
    Action& action = act(Action::Kind::close, actions);
    action.connection = connection;
    action.reason = std::move(reason);
}

void Session::forget_connection(Actions& actions) {
    end_market_data(actions);
    connection_ = 0;
    requested_until_ = 0;
    waiting_.clear();
    waiting_bytes_ = 0;
    resend_ = next_resend_ = {};
    unkept_.clear();
    unkept_bytes_ = 0;
}

// Events

void Session::handle(const Event& event, std::int64_t now_ns, Actions& actions) {
    now_ns_ = now_ns;
    switch (event.kind) {
        case Event::Kind::message:
            if (event.connection == connection_) return on_message(event, now_ns, actions);
            return on_first(event, now_ns, actions);
        case Event::Kind::closed:
            if (event.connection == connection_ && connection_ != 0) forget_connection(actions);
            return;
        case Event::Kind::written:
            if (event.connection == connection_) on_written(event, actions);
            return;
        case Event::Kind::report:
            return on_report(event, actions);
    }
}

void Session::on_report(const Event& event, Actions& actions) {
    const Message& report = *event.message;
    const bool market_data = report.is("W") || report.is("X") || report.is("Y");
    if (market_data && !takes_market_data(report, actions)) {
        act(Action::Kind::state, actions).report = event.report;
        return;
    }
    Message message(report.type());
    for (const fix::Field& field : report) {
        if (!fix::is_header(field.tag)) message.add(field.tag, field.value);
    }
    // Old market data is of no use: in a resend it is a gap.
    send(std::move(message), !market_data, actions, event.report);
}

void Session::on_message(const Event& event, std::int64_t now_ns, Actions& actions) {
    const Message& message = *event.message;
    received_ns_ = now_ns;
    tested_ns_ = 0;
    try {
        if (message.get_or(Tag::sender_comp_id, "") != user_ ||
            message.get_or(Tag::target_comp_id, "") != rules_->exchange) {
            reject(message, 0, Reason::comp_id_problem, "SenderCompID or TargetCompID is wrong",
                   actions);
            return log_out("SenderCompID or TargetCompID is wrong", actions);
        }
        const std::int64_t sequence = read_sequence(message, Tag::msg_seq_num);
        const TimeFault times = check_times(message);
        if (times.ends) {
            if (sequence == numbers_.next_incoming) ++numbers_.next_incoming;
            reject(message, *times.fault, actions);
            return log_out(times.fault->text, actions);
        }
        // In this mode its own number does not count.
        if (message.is("4") && !message.flag(Tag::gap_fill_flag)) {
            if (times.fault) return reject(message, *times.fault, actions);
            return try_to(&Session::on_sequence_reset, message, actions);
        }
        if (times.fault && sequence < numbers_.next_incoming && message.flag(Tag::poss_dup_flag)) {
            return reject(message, *times.fault, actions);
        }
        on_numbered({event.message, times.fault ? times.fault : event.fault}, sequence, actions);
        accept_waiting(actions);
    } catch (const FieldError& error) {
        // Without a number that can be read the order of what follows is not known.
        log_out(error.what(), actions);
    }
}

void Session::on_numbered(const Incoming& one, std::int64_t sequence, Actions& actions) {
    if (sequence == numbers_.next_incoming) return accept(one, actions);
    if (sequence > numbers_.next_incoming) return on_too_early(one, sequence, actions);
    if (one.message->flag(Tag::poss_dup_flag)) {
        act(Action::Kind::state, actions);
        return;
    }
    log_out(fmt::format("MsgSeqNum too low, expecting {} but received {}", numbers_.next_incoming,
                        sequence),
            actions);
}

void Session::accept(const Incoming& one, Actions& actions) {
    ++numbers_.next_incoming;
    const std::size_t before = actions.size();
    if (one.fault) {
        reject(*one.message, one.fault->tag, one.fault->reason, one.fault->text, actions);
    } else {
        try_to(&Session::dispatch, *one.message, actions);
    }
    if (actions.size() == before) act(Action::Kind::state, actions);
}

void Session::try_to(Handler handler, const Message& message, Actions& actions) {
    try {
        (this->*handler)(message, actions);
    } catch (const FieldError& error) {
        reject(message, error.tag(), error.reason(), error.what(), actions);
    }
}

void Session::dispatch(const Message& message, Actions& actions) {
    const std::string& type = message.type();
    if (type == "0" || type == "3" || type == "j") return;
    if (type == "1") {
        Message answer("0");
        answer.set(Tag::test_req_id, message.get(Tag::test_req_id));
        return send(std::move(answer), false, actions);
    }
    if (type == "2") return on_resend_request(message, actions);
    if (type == "4") return on_sequence_reset(message, actions);
    if (type == "5") return on_logout(actions);
    if (type == "A") {
        if (message.flag(Tag::poss_dup_flag)) return;
        return log_out("a Logon while logged on", actions);
    }
    dispatch_application(message, actions);
}

void Session::dispatch_application(const Message& message, Actions& actions) {
    const std::string& type = message.type();
    const auto refuse = [&](int reason, const std::string& text) {
        Message answer("j");
        answer.set(Tag::ref_seq_num, message.integer(Tag::msg_seq_num));
        answer.set(Tag::ref_msg_type, type).set(Tag::business_reject_reason, reason);
        send(std::move(answer.set(Tag::text, text)), true, actions);
    };
    if (type == "D" || type == "F" || type == "G" || type == "V") {
        if (message.has(deliver_to_comp_id)) {
            return refuse(firm_not_available, "DeliverToCompID (128): nothing is handed on");
        }
        check_application(message);
        if (type == "V") note_market_data(message);
        return command(message, actions);
    }
    if (!is_message_type(type)) {
        throw FieldError(Tag::msg_type, Reason::invalid_message_type,
                         fmt::format("MsgType '{}' is none", type));
    }
    refuse(unsupported_message_type, fmt::format("MsgType '{}' is not supported", type));
}

void Session::on_resend_request(const Message& message, Actions& actions) {
    const std::int64_t from = message.integer(Tag::begin_seq_no);
    const std::int64_t until = message.integer(Tag::end_seq_no);
    const std::int64_t last = numbers_.next_outgoing - 1;
    if (from < 1 || from > last || (until != 0 && until < from)) {
        throw FieldError(Tag::begin_seq_no, Reason::value_out_of_range,
                         fmt::format("messages {} to {} of {}", from, until, last));
    }
    act(Action::Kind::state, actions);
    resend(from, until == 0 ? last : std::min(until, last), actions);
}

void Session::on_sequence_reset(const Message& message, Actions& actions) {
    const std::int64_t next = read_sequence(message, Tag::new_seq_no);
    if (next < numbers_.next_incoming) {
        throw FieldError(
            Tag::new_seq_no, Reason::value_out_of_range,
            fmt::format("NewSeqNo is {}, but {} is next", next, numbers_.next_incoming));
    }
    numbers_.next_incoming = next;
    act(Action::Kind::state, actions);
    accept_waiting(actions);
}

void Session::on_logout(Actions& actions) {
    log_out("", actions);
}

// Time

void Session::check_time(std::int64_t now_ns, Actions& actions) {
    now_ns_ = now_ns;
    if (connection_ == 0 || heartbeat_ns_ == 0) return;
    if (tested_ns_ != 0 && now_ns >= tested_ns_ + heartbeat_ns_) {
        return log_out("nothing came after a TestRequest", actions);
    }
    // As long again as a fifth of the interval: for the way of a heartbeat that is due.
    if (tested_ns_ == 0 && now_ns >= received_ns_ + heartbeat_ns_ + heartbeat_ns_ / 5) {
        tested_ns_ = now_ns;
        Message message("1");
        message.set(Tag::test_req_id, fmt::format("test-{}", numbers_.next_outgoing));
        send(std::move(message), false, actions);
    }
    if (now_ns >= sent_ns_ + heartbeat_ns_) send(Message("0"), false, actions);
}

std::int64_t Session::due_ns() const noexcept {
    if (connection_ == 0 || heartbeat_ns_ == 0) return 0;
    const std::int64_t silence = tested_ns_ != 0 ? tested_ns_ + heartbeat_ns_
                                                 : received_ns_ + heartbeat_ns_ + heartbeat_ns_ / 5;
    return std::min(silence, sent_ns_ + heartbeat_ns_);
}

}  // namespace strid::exchange
