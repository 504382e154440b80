// SPDX-License-Identifier: Apache-2.0
//
// Resends in parts, the bounds of what waits, and the times of messages.
#include <algorithm>

#include "session_fixture.hpp"

namespace strid::exchange {
namespace {

TEST_F(SessionTest, ResendRequests) {
    (void)give(logon(1));
    const auto ask = [&](std::int64_t sequence, std::int64_t from, std::int64_t until) {
        return give(
            of_client("2", sequence).set(Tag::begin_seq_no, from).set(Tag::end_seq_no, until));
    };
    EXPECT_EQ(summary(ask(2, 1, 0)), "state, resend 1-1");
    // One part is on its way at most; requests that come meanwhile are answered together.
    EXPECT_EQ(summary(ask(3, 1, 9)), "state");
    EXPECT_EQ(summary(ask(4, 1, 0)), "state");
    EXPECT_EQ(summary(written(2)), "resend 1-1");
    EXPECT_EQ(summary(written(2)), "");
    EXPECT_EQ(summary(written(2)), "");
    EXPECT_EQ(summary(ask(5, 2, 0)), "send 3 2");
    // One that comes early is answered at once, so that both sides do not wait for each other.
    EXPECT_EQ(summary(ask(9, 1, 0)), "state, resend 1-2, hold 2 3");
    EXPECT_EQ(summary(written(3)), "resend 3-3");
    EXPECT_EQ(summary(written(4)), "");
    EXPECT_EQ(summary(ask(10, 7, 0)), "send 3 4");
}

TEST_F(SessionTest, MessagesBehindAResendKeepTheirOrder) {
    (void)give(logon(1));
    for (int number = 1; number <= 5; ++number) (void)report(number);
    const auto ask = of_client("2", 2).set(Tag::begin_seq_no, 1).set(Tag::end_seq_no, 4);
    auto actions = give(ask);
    ASSERT_EQ(summary(actions), "state, resend 1-4");
    EXPECT_FALSE(actions[1].fresh);
    EXPECT_EQ(summary(report(6)), "hold 8 7");
    EXPECT_EQ(summary(give(of_client("1", 3).set(Tag::test_req_id, "q"))), "hold 0 8");
    actions = written(3);
    ASSERT_EQ(summary(actions), "resend 3-4");
    // Numbers 5 and 6 were sent and not asked for; those behind it come now for the first time.
    actions = written(5);
    ASSERT_EQ(summary(actions), "resend 7-8");
    EXPECT_TRUE(actions[0].fresh);
    ASSERT_EQ(actions[0].unkept.size(), 1U);
    EXPECT_EQ(actions[0].unkept.at(8)->get(Tag::test_req_id), "q");
    EXPECT_EQ(summary(report(7)), "hold 8 9");
    EXPECT_EQ(summary(written(9)), "resend 9-9");
    EXPECT_EQ(summary(written(10)), "");
    EXPECT_EQ(summary(report(8)), "send 8 10");
    // A part of a connection that is gone is nothing to the next one.
    EXPECT_EQ(summary(give(of_client("2", 4).set(Tag::begin_seq_no, 1).set(Tag::end_seq_no, 0))),
              "state, resend 1-10");
    EXPECT_EQ(summary(written(5, 99)), "");
    EXPECT_EQ(summary(give(of_client("5", 5))), "send 5 11, close");
    EXPECT_EQ(summary(written(5)), "");
    EXPECT_EQ(summary(report(9)), "send 8 12");
}

TEST_F(SessionTest, AMessageThatCannotBeReadEndsTheSession) {
    (void)give(logon(1));
    (void)report(1);
    (void)give(of_client("2", 2).set(Tag::begin_seq_no, 1).set(Tag::end_seq_no, 0));
    Event event;
    event.kind = Event::Kind::written;
    event.connection = connection;
    event.next = 2;
    event.fault = std::make_shared<const fix::FieldFault>(fix::FieldFault{0, 99, "it is damaged"});
    const auto actions = give(event);
    ASSERT_EQ(summary(actions), "send 5 3, close");
    EXPECT_EQ(actions[0].message->get(Tag::text), "it is damaged");
    EXPECT_EQ(actions[1].connection, connection);
}

TEST_F(SessionTest, WhatWaitsIsBoundedByBytes) {
    rules_->waiting_bytes_max = 4000;
    rules_->waiting_bytes = std::make_shared<ByteBudget>(6000);
    (void)give(logon(1));
    std::vector<Action> actions;
    std::int64_t sequence = 3;
    std::size_t most = 0;
    while (session_.logged_on()) {
        ASSERT_LT(sequence, 100);
        actions = give(order(sequence++, std::string(60, 'x')));
        most = std::max(most, rules_->waiting_bytes->used());
    }
    ASSERT_EQ(summary(actions), "send 5 3, close");
    EXPECT_EQ(actions[0].message->get(Tag::text),
              "messages that wait for number 2 take more than 4000 bytes of this session");
    EXPECT_GT(most, 3000U);
    EXPECT_LE(most, 4000U);
    EXPECT_EQ(rules_->waiting_bytes->used(), 0U);
    // The bound of all sessions counts what another one keeps.
    ByteShare other;
    ASSERT_TRUE(other.take(rules_->waiting_bytes, 4000));
    (void)give(logon(2), 8);
    while (session_.logged_on()) actions = give(order(++sequence, std::string(60, 'x')), 8);
    EXPECT_EQ(actions[0].message->get(Tag::text),
              "messages that wait for number 3 take more than 6000 bytes of all sessions");
    EXPECT_EQ(rules_->waiting_bytes->used(), 4000U);
    // Messages behind a resend, which the ledger does not keep.
    (void)give(logon(3), 9);
    (void)give(of_client("2", 4).set(Tag::begin_seq_no, 1).set(Tag::end_seq_no, 0), 9);
    sequence = 4;
    while (session_.logged_on()) {
        ASSERT_LT(sequence, 100);
        actions = give(of_client("1", ++sequence).set(Tag::test_req_id, std::string(60, 'x')), 9);
    }
    EXPECT_EQ(actions[1].message->get(Tag::text),
              "more than 4000 bytes wait behind a resend, of this session or of all");
    EXPECT_EQ(rules_->waiting_bytes->used(), 4000U);
}

TEST_F(SessionTest, SendingTimes) {
    const auto at_offset = [](std::chrono::seconds offset) {
        return fix::utc_timestamp(std::chrono::system_clock::now() + offset);
    };
    const auto number_of = [](const Action& action, int tag) {
        return action.message->integer_or(tag, 0);
    };
    // A Logon whose time is wrong is rejected as any other message; one without is no Logon.
    auto actions = give(logon(1).set(Tag::sending_time, at_offset(-std::chrono::hours(1))));
    ASSERT_EQ(summary(actions), "send 3 1, send 5 2, close");
    Message without = logon(2);
    without.erase(Tag::sending_time);
    EXPECT_EQ(summary(give(without)), "send 5 1, close");
    EXPECT_EQ(summary(give(logon(2))), "send A 3");
    // Two minutes are allowed.
    EXPECT_EQ(summary(give(order(3, "x").set(Tag::sending_time, at_offset(-100s)))), "command D");
    EXPECT_EQ(summary(give(order(4, "y").set(Tag::sending_time, at_offset(100s)))), "command D");
    without = order(5, "z");
    without.erase(Tag::sending_time);
    actions = give(without);
    ASSERT_EQ(summary(actions), "send 3 4");
    EXPECT_EQ(number_of(actions[0], Tag::session_reject_reason), 1);
    EXPECT_EQ(number_of(actions[0], Tag::ref_tag_id), 52);
    actions = give(order(6, "z").set(Tag::sending_time, "20260230-00:00:00"));
    ASSERT_EQ(summary(actions), "send 3 5");
    EXPECT_EQ(number_of(actions[0], Tag::session_reject_reason), 6);
    // PossDupFlag without OrigSendingTime, in turn and as a duplicate.
    for (const std::int64_t sequence : {7, 3}) {
        actions = give(order(sequence, "z").set(Tag::poss_dup_flag, "Y"));
        ASSERT_EQ(actions.size(), 1U);
        EXPECT_EQ(actions[0].message->type(), "3");
        EXPECT_EQ(number_of(actions[0], Tag::session_reject_reason), 1);
        EXPECT_EQ(number_of(actions[0], Tag::ref_tag_id), 122);
        EXPECT_EQ(number_of(actions[0], Tag::ref_seq_num), sequence);
    }
    EXPECT_EQ(summary(give(again(order(3, "x")))), "state");
    EXPECT_EQ(session_.numbers().next_incoming, 8);
    for (const auto& wrong : {order(8, "w").set(Tag::sending_time, at_offset(-130s)),
                              order(10, "w").set(Tag::sending_time, at_offset(130s)),
                              again(order(12, "w")).set(Tag::orig_sending_time, at_offset(5s))}) {
        actions = give(wrong);
        ASSERT_EQ(actions.size(), 3U);
        EXPECT_EQ(number_of(actions[0], Tag::session_reject_reason), 10);
        EXPECT_EQ(actions[1].message->type(), "5");
        EXPECT_NE(actions[1].message->get(Tag::text).find("SendingTime accuracy problem"),
                  std::string::npos);
        EXPECT_FALSE(session_.logged_on());
        EXPECT_EQ(session_.numbers().next_incoming, wrong.integer(Tag::msg_seq_num) + 1);
        EXPECT_EQ(give(logon(session_.numbers().next_incoming))[0].message->type(), "A");
    }
    rules_->clock_difference_max = {};
    EXPECT_EQ(summary(give(order(14, "v").set(Tag::sending_time, past))), "command D");
}

}  // namespace
}  // namespace strid::exchange
