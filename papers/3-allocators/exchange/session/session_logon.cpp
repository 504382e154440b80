// SPDX-License-Identifier: Apache-2.0
//
// The first message of a connection: a Logon, or the connection is closed. A Logon that is refused
// is answered by a Logout with the reason, as FIX 4.4, volume 2, recommends.
#include <utility>

#include <fmt/format.h>

#include "session/session.hpp"

namespace strid::exchange {

using fix::FieldError;
using fix::Message;
using fix::Tag;

void Session::refuse_logon(const Event& event, std::string_view why, Actions& actions) {
    std::string reason = fmt::format("Logon: {}", why);
    Message logout("5");
    logout.set(Tag::text, std::string_view(reason).substr(0, text_max));
    Action& action = act(Action::Kind::send, actions);
    action.connection = event.connection;
    // It takes no number, and shows none of the user that the client names.
    action.sequence = 1;
    action.message = with_header(std::move(logout), action.sequence);
    close(event, std::move(reason), actions);
}

void Session::close(const Event& event, std::string reason, Actions& actions) {
    Action& action = act(Action::Kind::close, actions);
    action.connection = event.connection;
    action.reason = std::move(reason);
}

void Session::on_first(const Event& event, std::int64_t now_ns, Actions& actions) {
    const Message& message = *event.message;
    const auto refuse = [&](std::string_view why) { refuse_logon(event, why, actions); };
    if (!message.is("A")) return close(event, "the first message is no Logon", actions);
    if (!is_comp_id(user_) || message.get_or(Tag::sender_comp_id, "") != user_) {
        return close(event, "Logon: SenderCompID is none, or another than before", actions);
    }
    if (event.fault) return refuse(event.fault->text);
    // The standard wants no answer: it could be taken for one of the session that is on.
    if (connection_ != 0) return close(event, user_ + " is logged on already", actions);
    try {
        if (message.get(Tag::target_comp_id) != rules_->exchange) {
            return refuse(fmt::format("TargetCompID is not {}", rules_->exchange));
        }
        const std::int64_t heartbeat_s = message.integer(Tag::heart_bt_int);
        if (message.integer(Tag::encrypt_method) != 0 || heartbeat_s < 0 ||
            heartbeat_s > rules_->heartbeat_s_max) {
            return refuse("EncryptMethod or HeartBtInt is out of range");
        }
        const std::int64_t sequence = read_sequence(message, Tag::msg_seq_num);
        if (message.flag(Tag::reset_seq_num_flag) && sequence != 1) {
            return refuse("ResetSeqNumFlag with a MsgSeqNum that is not 1");
        }
        (void)message.integer_or(Tag::next_expected_msg_seq_num, 1);
        const TimeFault times = check_times(message);
        if (times.fault != nullptr && !times.ends) return refuse(times.fault->text);
        heartbeat_ns_ = heartbeat_s * second_ns;
        log_on(event, sequence, now_ns, actions);
    } catch (const FieldError& error) {
        refuse(error.what());
    }
}

void Session::log_on(const Event& event, std::int64_t sequence, std::int64_t now_ns,
                     Actions& actions) {
    const Message& message = *event.message;
    connection_ = event.connection;
    received_ns_ = now_ns;
    tested_ns_ = 0;
    if (const TimeFault times = check_times(message); times.ends) {
        if (sequence == numbers_.next_incoming) ++numbers_.next_incoming;
        reject(message, *times.fault, actions);
        return log_out(times.fault->text, actions);
    }
    const bool resets = message.flag(Tag::reset_seq_num_flag);
    if (resets) {
        numbers_ = {};
        act(Action::Kind::reset, actions);
    }
    if (sequence < numbers_.next_incoming && !message.flag(Tag::poss_dup_flag)) {
        return log_out(fmt::format("MsgSeqNum too low, expecting {} but received {}",
                                   numbers_.next_incoming, sequence),
                       actions);
    }
    const std::int64_t wanted = message.integer_or(Tag::next_expected_msg_seq_num, 0);
    if (wanted > numbers_.next_outgoing) {
        return log_out(fmt::format("NextExpectedMsgSeqNum too high, {} is next but received {}",
                                   numbers_.next_outgoing, wanted),
                       actions);
    }
    const bool is_early = sequence > numbers_.next_incoming;
    if (sequence == numbers_.next_incoming) ++numbers_.next_incoming;
    Message answer("A");
    answer.set(Tag::encrypt_method, 0).set(Tag::heart_bt_int, heartbeat_ns_ / second_ns);
    if (resets) answer.set(Tag::reset_seq_num_flag, "Y");
    if (wanted > 0) answer.set(Tag::next_expected_msg_seq_num, numbers_.next_incoming);
    const std::int64_t answered = numbers_.next_outgoing;
    send(std::move(answer), false, actions);
    if (wanted > 0 && wanted < answered) resend(wanted, answered - 1, actions);
    if (!is_early) return;
    // The Logon itself is done; its number is passed when the messages before it have come.
    if (!wait_for_turn({std::make_shared<const Message>("0"), nullptr}, sequence, actions)) return;
    requested_until_ = sequence;
    if (wanted == 0) request_resend(actions);
}

}  // namespace strid::exchange
