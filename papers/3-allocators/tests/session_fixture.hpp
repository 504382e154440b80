// SPDX-License-Identifier: Apache-2.0
//
// A session and its client, for the tests of sessions.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fix/time_text.hpp>
#include <gtest/gtest.h>
#include <session/session.hpp>

namespace strid::exchange {
using fix::Message;
using fix::Tag;
using namespace std::chrono_literals;

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr ConnectionId connection = 7;
inline constexpr const char* past = "20260101-00:00:00";

class SessionTest : public testing::Test {
  protected:
    Message of_client(std::string_view type, std::int64_t sequence) {
        Message message(type);
        message.set(Tag::sender_comp_id, "U").set(Tag::target_comp_id, "STRID");
        message.set(Tag::msg_seq_num, sequence).set(Tag::sending_time, fix::utc_timestamp());
        return message;
    }
    /// As it is sent again: with an OrigSendingTime.
    static Message again(Message message) {
        return message.set(Tag::poss_dup_flag, "Y").set(Tag::orig_sending_time, past);
    }
    /// The client has taken a part of a resend, which goes on at `next`.
    std::vector<Action> written(std::int64_t next, ConnectionId from = connection) {
        Event event;
        event.kind = Event::Kind::written;
        event.connection = from;
        event.next = next;
        return give(event);
    }
    std::vector<Action> report(std::int64_t number, std::string_view type = "8") {
        Event event;
        event.kind = Event::Kind::report;
        event.report = number;
        event.message = std::make_shared<const Message>(
            Message(type).set(Tag::cl_ord_id, "x").set(Tag::msg_seq_num, number).set(17, "e1"));
        return give(event);
    }
    Message logon(std::int64_t sequence) {
        return of_client("A", sequence).set(Tag::encrypt_method, 0).set(Tag::heart_bt_int, 10);
    }
    Message order(std::int64_t sequence, std::string_view id) {
        return of_client("D", sequence)
            .set(Tag::cl_ord_id, id)
            .set(Tag::symbol, "ABC")
            .set(Tag::side, "1")
            .set(Tag::order_qty, 100)
            .set(Tag::ord_type, "2")
            .set(Tag::price, "10.25");
    }
    std::vector<Action> give(const Message& message, ConnectionId from = connection) {
        Event event;
        event.user = "U";
        event.connection = from;
        event.message = std::make_shared<const Message>(message);
        return give(event);
    }
    std::vector<Action> give(const Event& event) {
        std::vector<Action> actions;
        session_.handle(event, now_ns_, actions);
        return actions;
    }
    std::vector<Action> at(std::int64_t seconds) {
        now_ns_ = seconds * second_ns;
        std::vector<Action> actions;
        session_.check_time(now_ns_, actions);
        return actions;
    }
    /// "send A 1" for each action, in one line.
    static std::string summary(const std::vector<Action>& actions) {
        std::string text;
        for (const Action& action : actions) {
            if (!text.empty()) text += ", ";
            switch (action.kind) {
                case Action::Kind::state:
                    text += "state";
                    break;
                case Action::Kind::send:
                    text += action.held ? "hold " : "send ";
                    text += action.message->type() + " " + std::to_string(action.sequence);
                    break;
                case Action::Kind::command:
                    text += "command " + action.message->type();
                    break;
                case Action::Kind::resend:
                    text += "resend " + std::to_string(action.sequence) + "-" +
                            std::to_string(action.until);
                    break;
                case Action::Kind::reset:
                    text += "reset";
                    break;
                case Action::Kind::close:
                    text += "close";
                    break;
            }
        }
        return text;
    }

    std::shared_ptr<SessionRules> rules_ = std::make_shared<SessionRules>();
    Session session_{"U", {}, rules_};
    std::int64_t now_ns_ = second_ns;
};

}  // namespace strid::exchange
