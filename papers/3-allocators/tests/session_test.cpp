// SPDX-License-Identifier: Apache-2.0
//
// The FIX session of a user against the rules of FIX 4.4, volume 2: what it answers to each
// message, and what it numbers.
#include "session_fixture.hpp"

namespace strid::exchange {
namespace {

TEST_F(SessionTest, LogonOrderLogout) {
    EXPECT_EQ(summary(give(logon(1))), "send A 1");
    const auto actions = give(order(2, "x"));
    ASSERT_EQ(summary(actions), "command D");
    EXPECT_EQ(actions[0].message->get(Tag::cl_ord_id), "x");
    EXPECT_EQ(actions[0].message->get(Tag::sender_comp_id), "U");
    EXPECT_FALSE(actions[0].message->has(Tag::msg_seq_num));
    EXPECT_EQ(actions[0].next_incoming, 3);
    EXPECT_EQ(summary(give(of_client("5", 3))), "send 5 2, close");
    EXPECT_FALSE(session_.logged_on());
}

TEST_F(SessionTest, LogonsThatAreRefused) {
    EXPECT_EQ(summary(give(order(1, "x"))), "close");
    const auto refused = [&](const Message& message) {
        const auto actions = give(message, 9);
        EXPECT_EQ(summary(actions), "send 5 1, close");
        const Message& logout = *actions.front().message;
        EXPECT_EQ(logout.get(Tag::target_comp_id), "U");
        EXPECT_EQ(logout.integer(Tag::msg_seq_num), 1);
        EXPECT_EQ(logout.get(Tag::text), actions.back().reason);
        EXPECT_EQ(actions.front().connection, 9U);
        return logout.get(Tag::text);
    };
    EXPECT_EQ(refused(logon(1).set(Tag::target_comp_id, "OTHER")),
              "Logon: TargetCompID is not " + rules_->exchange);
    const std::string range = "Logon: EncryptMethod or HeartBtInt is out of range";
    EXPECT_EQ(refused(logon(1).set(Tag::encrypt_method, 1)), range);
    EXPECT_EQ(refused(logon(1).set(Tag::heart_bt_int, -1)), range);
    (void)refused(logon(1).set(Tag::heart_bt_int, "x"));
    (void)refused(logon(2).set(Tag::reset_seq_num_flag, "Y"));
    (void)refused(logon(std::numeric_limits<std::int64_t>::max()));
    (void)refused(logon(0));
    EXPECT_EQ(session_.numbers().next_incoming, 1);
    EXPECT_EQ(session_.numbers().next_outgoing, 1);
    EXPECT_EQ(summary(give(logon(1))), "send A 1");
    // Another connection of the same user; the one that is on goes on.
    const auto twice = give(logon(2), 8);
    ASSERT_EQ(summary(twice), "close");
    EXPECT_EQ(twice[0].connection, 8U);
    // One that has a fault is answered as if none were on: it does not show which users are on.
    Event wrong;
    wrong.connection = 8;
    wrong.message = std::make_shared<const Message>(logon(3));
    wrong.fault = std::make_shared<const fix::FieldFault>(fix::FieldFault{554, 99, "wrong"});
    EXPECT_EQ(summary(give(wrong)), "send 5 1, close");
    EXPECT_TRUE(session_.logged_on());
    EXPECT_EQ(summary(give(order(2, "x"))), "command D");
    EXPECT_EQ(summary(give(logon(3))), "send 5 2, close");
}

TEST_F(SessionTest, NumbersThatAreTooLow) {
    (void)give(logon(1));
    (void)give(order(2, "x"));
    EXPECT_EQ(summary(give(again(order(2, "x")))), "state");
    const auto actions = give(order(2, "y"));
    ASSERT_EQ(summary(actions), "send 5 2, close");
    EXPECT_EQ(actions[0].message->get(Tag::text), "MsgSeqNum too low, expecting 3 but received 2");
}

TEST_F(SessionTest, NumbersThatAreTooHighWaitForTheirTurn) {
    (void)give(logon(1));
    const auto early = give(order(4, "c"));
    ASSERT_EQ(summary(early), "send 2 2");
    EXPECT_EQ(early[0].message->integer(Tag::begin_seq_no), 2);
    EXPECT_EQ(early[0].message->integer(Tag::end_seq_no), 0);
    EXPECT_EQ(summary(give(order(5, "d"))), "");  // it is asked for already
    EXPECT_EQ(summary(give(again(order(2, "a")))), "command D");
    const auto all = give(again(order(3, "b")));
    ASSERT_EQ(summary(all), "command D, command D, command D");
    EXPECT_EQ(all[0].message->get(Tag::cl_ord_id), "b");
    EXPECT_EQ(all[1].message->get(Tag::cl_ord_id), "c");
    EXPECT_EQ(all[2].message->get(Tag::cl_ord_id), "d");
    // The messages that waited come once more in the resend.
    EXPECT_EQ(summary(give(again(order(4, "c")))), "state");
    EXPECT_EQ(session_.numbers().next_incoming, 6);
}

TEST_F(SessionTest, GapFillsAndResets) {
    (void)give(logon(1));
    (void)give(order(6, "e"));
    const auto fill = [&](std::int64_t sequence, std::int64_t next) {
        return of_client("4", sequence)
            .set(Tag::gap_fill_flag, "Y")
            .set(Tag::poss_dup_flag, "Y")
            .set(Tag::new_seq_no, next);
    };
    EXPECT_EQ(summary(give(fill(2, 6))), "state, command D");
    EXPECT_EQ(session_.numbers().next_incoming, 7);
    EXPECT_EQ(summary(give(of_client("4", 1).set(Tag::new_seq_no, 20))), "state");
    EXPECT_EQ(session_.numbers().next_incoming, 20);
    EXPECT_EQ(summary(give(fill(20, 5))), "send 3 3");
    EXPECT_EQ(session_.numbers().next_incoming, 21);
    EXPECT_EQ(summary(give(of_client("4", 1).set(Tag::new_seq_no, 5))), "send 3 4");
    // No number that has no next one.
    const std::int64_t last = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(summary(give(of_client("4", 1).set(Tag::new_seq_no, last))), "send 3 5");
    EXPECT_EQ(summary(give(fill(21, last))), "send 3 6");
    EXPECT_EQ(session_.numbers().next_incoming, 22);
    EXPECT_EQ(summary(give(of_client("0", last))), "send 5 7, close");
}

TEST_F(SessionTest, ALogonAfterABreakStatesWhereBothAre) {
    (void)give(logon(1));
    (void)give(order(2, "x"));
    Event gone;
    gone.kind = Event::Kind::closed;
    gone.connection = connection;
    EXPECT_EQ(summary(give(gone)), "");
    const auto kept = report(1);
    ASSERT_EQ(summary(kept), "send 8 2");
    EXPECT_TRUE(kept[0].kept);
    EXPECT_EQ(kept[0].connection, 0U);
    EXPECT_EQ(kept[0].report, 1);
    EXPECT_EQ(kept[0].message->integer(Tag::msg_seq_num), 2);
    // By NextExpectedMsgSeqNum.
    const auto on = give(logon(3).set(Tag::next_expected_msg_seq_num, 2), 9);
    ASSERT_EQ(summary(on), "send A 3, resend 2-2");
    EXPECT_EQ(on[0].message->integer(Tag::next_expected_msg_seq_num), 4);
    gone.connection = 9;
    (void)give(gone);
    // Without: a number that is too high is asked for.
    EXPECT_EQ(summary(give(logon(6), 10)), "send A 4, send 2 5");
    EXPECT_EQ(summary(give(again(order(4, "y")), 10)), "command D");
    EXPECT_EQ(summary(give(again(order(5, "z")), 10)), "command D, state");
    EXPECT_EQ(session_.numbers().next_incoming, 7);
    gone.connection = 10;
    (void)give(gone);
    const auto ahead = give(logon(7).set(Tag::next_expected_msg_seq_num, 99), 11);
    EXPECT_EQ(summary(ahead), "send 5 6, close");
    EXPECT_EQ(summary(give(logon(1), 12)), "send 5 7, close");
    EXPECT_EQ(summary(give(logon(1).set(Tag::reset_seq_num_flag, "Y"), 13)), "reset, send A 1");
    EXPECT_EQ(session_.numbers().next_incoming, 2);
}

TEST_F(SessionTest, RejectsSayWhatIsWrong) {
    (void)give(logon(1));
    struct Case {
        int tag;
        const char* value;  // null: it is missing
        int reason;
    };
    std::int64_t sequence = 1;
    for (const Case& one :
         {Case{Tag::symbol, nullptr, 1}, Case{Tag::side, "33", 5}, Case{Tag::order_qty, "ten", 6},
          Case{Tag::price, "-1", 6}, Case{Tag::price, nullptr, 1}, Case{Tag::ord_type, "-", 5},
          Case{Tag::time_in_force, "11", 5}, Case{Tag::transact_time, "now", 6}}) {
        Message message = order(++sequence, "x");
        message.erase(one.tag);
        if (one.value != nullptr) message.set(one.tag, one.value);
        const auto actions = give(message);
        ASSERT_EQ(summary(actions), "send 3 " + std::to_string(sequence)) << one.tag;
        EXPECT_EQ(actions[0].message->integer(Tag::ref_tag_id), one.tag);
        EXPECT_EQ(actions[0].message->integer(Tag::session_reject_reason), one.reason) << one.tag;
        EXPECT_EQ(actions[0].message->integer(Tag::ref_seq_num), sequence);
        EXPECT_EQ(actions[0].message->get(Tag::ref_msg_type), "D");
    }
    // Sides, types and lifetimes that the exchange does not have are the data manager's to refuse.
    EXPECT_EQ(summary(give(order(++sequence, "x").set(Tag::ord_type, "3"))), "command D");
    ++sequence;
    EXPECT_EQ(summary(give(order(sequence, "x").add(Tag::symbol, "B"))),
              "send 3 " + std::to_string(sequence - 1));
    const auto unsupported = give(of_client("E", ++sequence));
    ASSERT_EQ(summary(unsupported), "send j " + std::to_string(sequence - 1));
    EXPECT_EQ(unsupported[0].message->integer(Tag::business_reject_reason), 3);
    const auto unknown = give(of_client("&", ++sequence));
    ASSERT_EQ(summary(unknown), "send 3 " + std::to_string(sequence - 1));
    EXPECT_EQ(unknown[0].message->integer(Tag::session_reject_reason), 11);
    ++sequence;
    EXPECT_EQ(summary(give(of_client("D", sequence).set(Tag::sender_comp_id, "V"))),
              "send 3 " + std::to_string(sequence - 1) + ", send 5 " + std::to_string(sequence) +
                  ", close");
}

TEST_F(SessionTest, HeartbeatsTestRequestsAndSilence) {
    (void)give(logon(1));
    EXPECT_EQ(session_.due_ns(), 11 * second_ns);
    EXPECT_EQ(summary(at(5)), "");
    EXPECT_EQ(summary(at(11)), "send 0 2");
    EXPECT_EQ(session_.due_ns(), 13 * second_ns);
    EXPECT_EQ(summary(at(13)), "send 1 3");
    const auto answer = give(of_client("1", 2).set(Tag::test_req_id, "q"));
    ASSERT_EQ(summary(answer), "send 0 4");
    EXPECT_EQ(answer[0].message->get(Tag::test_req_id), "q");
    EXPECT_EQ(summary(at(24)), "send 0 5");  // the client has sent something: no end
    EXPECT_EQ(summary(at(25)), "send 1 6");
    EXPECT_EQ(summary(at(34)), "");
    EXPECT_EQ(summary(at(35)), "send 5 7, close");
    EXPECT_EQ(session_.due_ns(), 0);
}

TEST_F(SessionTest, MarketDataEndsWithTheSession) {
    (void)give(logon(1));
    EXPECT_EQ(summary(give(of_client("V", 2)
                               .set(Tag::md_req_id, "m")
                               .set(Tag::subscription_request_type, "1")
                               .set(Tag::symbol, "ABC"))),
              "command V");
    Event report;
    report.kind = Event::Kind::report;
    report.report = 4;
    report.message = std::make_shared<const Message>(
        Message("W").set(Tag::md_req_id, "m").set(Tag::symbol, "ABC"));
    auto actions = give(report);
    ASSERT_EQ(summary(actions), "send W 2");
    EXPECT_FALSE(actions[0].kept);
    actions = give(of_client("5", 3));
    ASSERT_EQ(summary(actions), "send 5 3, command V, close");
    EXPECT_EQ(actions[1].message->get(Tag::subscription_request_type), "2");
    // On its way still: passed over, but done with; and the subscription is ended once more.
    actions = give(report);
    ASSERT_EQ(summary(actions), "command V, state");
    EXPECT_EQ(actions[1].report, 4);
}

}  // namespace
}  // namespace strid::exchange
