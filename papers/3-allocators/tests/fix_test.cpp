// SPDX-License-Identifier: Apache-2.0
//
// FIX framing and fields: known messages, each way to be wrong, and random streams whose oracle is
// the list of messages that was written into them.
#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fix/decoder.hpp>
#include <fix/message.hpp>
#include <fix/time_text.hpp>
#include <gtest/gtest.h>

namespace strid::exchange::fix {
namespace {

/// '|' stands for the SOH.
std::string raw(std::string text) {
    for (char& c : text) {
        if (c == '|') c = soh;
    }
    return text;
}

/// Length and sum by hand, not by Message.
std::string framed(const std::string& body) {
    std::string text = raw("8=FIX.4.4|9=" + std::to_string(body.size()) + "|" + body);
    unsigned sum = 0;
    for (const char c : text) sum += static_cast<unsigned char>(c);
    const std::string digits = std::to_string(1000 + sum % 256).substr(1);
    return text + raw("10=" + digits + "|");
}

struct Outcome {
    std::vector<std::string> messages;
    std::vector<Garbled> garbled;
    std::uint64_t garbled_bytes = 0;
    std::size_t pending = 0;
};

Outcome decode(std::string_view bytes, std::size_t step) {
    Decoder decoder(4096);
    Outcome outcome;
    Message message;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        decoder.feed(bytes.substr(at, step));
        for (bool looking = true; looking;) {
            switch (decoder.next(message)) {
                case Decoded::more:
                    looking = false;
                    break;
                case Decoded::message:
                    outcome.messages.push_back(message.to_text());
                    break;
                case Decoded::garbled:
                    outcome.garbled.push_back(decoder.garbled());
                    outcome.garbled_bytes += decoder.garbled().bytes;
                    break;
            }
        }
    }
    outcome.pending = decoder.pending_bytes();
    return outcome;
}

TEST(FixMessage, EncodesAPublishedExample) {
    // The logon of the page "Financial Information eXchange" of several tutorials: sum worked out
    // by hand over the bytes.
    Message message("A");
    message.set(Tag::sender_comp_id, "A").set(Tag::target_comp_id, "B").set(Tag::msg_seq_num, 1);
    message.set(Tag::encrypt_method, 0).set(Tag::heart_bt_int, 30);
    EXPECT_EQ(message.encode(), framed("35=A|49=A|56=B|34=1|98=0|108=30|"));
}

TEST(FixMessage, HeaderStandsBeforeTheBody) {
    Message message("D");
    message.set(Tag::cl_ord_id, "x").set(Tag::msg_seq_num, 7).set(Tag::symbol, "ABC");
    message.set(Tag::sender_comp_id, "U");
    EXPECT_EQ(message.encode(), framed("35=D|34=7|49=U|11=x|55=ABC|"));
}

TEST(FixMessage, SetReplacesAndAddRepeats) {
    Message message("V");
    message.add(269, "0").add(269, "1").set(Tag::symbol, "A").set(Tag::symbol, "B");
    EXPECT_EQ(message.encode(), framed("35=V|269=0|269=1|55=B|"));
    message.erase(269);
    EXPECT_EQ(message.encode(), framed("35=V|55=B|"));
}

TEST(FixMessage, ValuesThatBreakTheFramingAreRefused) {
    Message message("D");
    EXPECT_THROW(message.set(Tag::text, raw("a|10=000|")), FieldError);
    EXPECT_THROW(message.set(Tag::text, ""), FieldError);
    EXPECT_THROW(message.set(Tag::check_sum, "1"), std::invalid_argument);
    EXPECT_TRUE(message.empty());
}

TEST(FixMessage, FieldsAsNumbersAndFlags) {
    Message message("4");
    message.set(Tag::new_seq_no, "12").set(Tag::gap_fill_flag, "Y").set(Tag::text, "1x");
    EXPECT_EQ(message.integer(Tag::new_seq_no), 12);
    EXPECT_TRUE(message.flag(Tag::gap_fill_flag));
    EXPECT_FALSE(message.flag(Tag::poss_dup_flag));
    try {
        (void)message.integer(Tag::text);
        FAIL();
    } catch (const FieldError& error) {
        EXPECT_EQ(error.tag(), Tag::text);
        EXPECT_EQ(error.reason(), Reason::incorrect_format);
        EXPECT_STREQ(error.what(), "tag 58 is no whole number: '1x'");
    }
    try {
        (void)message.get(Tag::symbol);
        FAIL();
    } catch (const FieldError& error) {
        EXPECT_EQ(error.reason(), Reason::required_tag_missing);
    }
    message.set(Tag::text, "99999999999999999999");
    EXPECT_THROW((void)message.integer(Tag::text), FieldError);
    EXPECT_THROW((void)message.flag(Tag::text), FieldError);
}

TEST(FixDecoder, BytesOneAtATime) {
    const std::string bytes = framed("35=0|49=A|") + framed("35=D|11=1|55=ABC|");
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
        const Outcome outcome = decode(bytes, step);
        ASSERT_EQ(outcome.messages.size(), 2U);
        EXPECT_EQ(raw(outcome.messages[0]), framed("35=0|49=A|"));
        EXPECT_EQ(raw(outcome.messages[1]), framed("35=D|11=1|55=ABC|"));
        EXPECT_TRUE(outcome.garbled.empty());
        EXPECT_EQ(outcome.pending, 0U);
    }
}

TEST(FixDecoder, ACutMessageIsPending) {
    const std::string whole = framed("35=D|11=1|55=ABC|");
    for (std::size_t length = 1; length < whole.size(); ++length) {
        const Outcome outcome = decode(whole.substr(0, length), length);
        EXPECT_TRUE(outcome.messages.empty());
        EXPECT_TRUE(outcome.garbled.empty()) << length;
        EXPECT_EQ(outcome.pending, length);
    }
}

TEST(FixDecoder, AWrongSumIsPassedOver) {
    std::string bytes = framed("35=D|11=1|");
    bytes[bytes.size() - 2] = bytes[bytes.size() - 2] == '0' ? '1' : '0';
    const Outcome outcome = decode(framed("35=0|") + bytes + framed("35=1|112=x|"), 5);
    ASSERT_EQ(outcome.messages.size(), 2U);
    ASSERT_EQ(outcome.garbled.size(), 1U);
    EXPECT_EQ(outcome.garbled[0].kind, Garbled::Kind::check_sum);
    EXPECT_EQ(outcome.garbled[0].bytes, bytes.size());
    EXPECT_NE(outcome.garbled[0].text.find("at byte 26: CheckSum is "), std::string::npos)
        << outcome.garbled[0].text;
}

TEST(FixDecoder, AWrongLengthIsReportedAtItsCheckSum) {
    const std::string good = framed("35=D|11=1|");
    for (const char* length : {"9=9", "9=11", "9=4000", "9=0"}) {
        std::string bad = good;
        bad.replace(bad.find("9=10"), 4, length);
        // The message behind is not swallowed, and is not waited for either.
        const Outcome alone = decode(bad, 1);
        ASSERT_FALSE(alone.garbled.empty()) << length;
        EXPECT_EQ(alone.garbled[0].kind, Garbled::Kind::body_length);
        const Outcome outcome = decode(bad + good, 3);
        ASSERT_EQ(outcome.messages.size(), 1U) << length;
        EXPECT_EQ(raw(outcome.messages[0]), good);
    }
}

TEST(FixDecoder, ACheckSumInsideTheBodyIsGarbledHoweverItArrives) {
    const std::string both = framed("35=0|10=000|58=x|") + framed("35=0|");
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, both.size()}) {
        const Outcome outcome = decode(both, step);
        ASSERT_FALSE(outcome.garbled.empty()) << step;
        EXPECT_EQ(outcome.garbled[0].kind, Garbled::Kind::body_length) << step;
        ASSERT_EQ(outcome.messages.size(), 1U) << step;
        EXPECT_EQ(raw(outcome.messages[0]), framed("35=0|")) << step;
    }
}

TEST(FixDecoder, WhatIsNoLengthOrTooLong) {
    for (const char* length : {"9=", "9=x", "9=-1", "9=1234567890", "9=1.0"}) {
        const Outcome outcome =
            decode(raw(std::string("8=FIX.4.4|") + length + "|35=0|10=000|") + framed("35=0|"), 1);
        ASSERT_FALSE(outcome.garbled.empty()) << length;
        EXPECT_EQ(outcome.garbled[0].kind, Garbled::Kind::body_length) << length;
        EXPECT_EQ(outcome.messages.size(), 1U) << length;
    }
    const Outcome huge = decode(raw("8=FIX.4.4|9=4097|35=0|"), 1);
    ASSERT_FALSE(huge.garbled.empty());
    EXPECT_EQ(huge.garbled[0].kind, Garbled::Kind::too_long);
    EXPECT_EQ(decode(framed("35=0|58=" + std::string(4096 - 9, 'x') + "|"), 100).messages.size(),
              1U);
}

TEST(FixDecoder, OtherVersionsAndOtherProtocols) {
    const Outcome outcome = decode(
        raw("8=FIX.4.2|9=5|35=0|10=161|") + "GET / HTTP/1.1\r\n\r\n" + framed("35=0|"), 1000);
    EXPECT_EQ(outcome.messages.size(), 1U);
    ASSERT_FALSE(outcome.garbled.empty());
    EXPECT_EQ(outcome.garbled[0].kind, Garbled::Kind::begin_string);
}

TEST(FixDecoder, TypeComesFirst) {
    const Outcome outcome = decode(framed("49=A|35=0|") + framed("35=|") + framed(""), 4);
    EXPECT_TRUE(outcome.messages.empty());
    ASSERT_EQ(outcome.garbled.size(), 3U);
    for (const Garbled& one : outcome.garbled) EXPECT_EQ(one.kind, Garbled::Kind::msg_type);
}

TEST(FixDecoder, AFieldThatIsWrongDoesNotGarbleTheMessage) {
    struct Case {
        const char* field;
        int tag;
        int reason;
    };
    for (const Case& one :
         {Case{"58=", 58, Reason::tag_without_value}, Case{"x=1", 0, Reason::invalid_tag_number},
          Case{"58", 0, Reason::invalid_tag_number}, Case{"=1", 0, Reason::invalid_tag_number},
          Case{"058=a", 0, Reason::invalid_tag_number}, Case{"-5=a", 0, Reason::invalid_tag_number},
          Case{"", 0, Reason::invalid_tag_number},
          Case{"99999999999=a", 0, Reason::invalid_tag_number},
          Case{"35=D", 35, Reason::tag_more_than_once}}) {
        Decoder decoder;
        decoder.feed(framed(std::string("35=0|34=4|") + one.field + "|112=y|"));
        Message message;
        ASSERT_EQ(decoder.next(message), Decoded::message) << one.field;
        ASSERT_TRUE(decoder.fault()) << one.field;
        EXPECT_EQ(decoder.fault()->tag, one.tag) << one.field;
        EXPECT_EQ(decoder.fault()->reason, one.reason) << one.field;
        EXPECT_EQ(message.integer(Tag::msg_seq_num), 4);
        EXPECT_EQ(message.get(Tag::test_req_id), "y");
    }
}

TEST(FixDecoder, RandomStreamsInRandomPieces) {
    std::mt19937_64 random(20261127);
    const auto below = [&random](std::size_t n) { return random() % n; };
    for (int round = 0; round < 300; ++round) {
        std::string bytes;
        std::vector<std::string> written;
        for (std::size_t count = 1 + below(12); count > 0; --count) {
            if (below(4) == 0) {
                // Bytes that hold no beginning of a message; a SOH ends them.
                for (std::size_t n = below(40); n > 0; --n) {
                    bytes += static_cast<char>(below(256));
                    if (bytes.back() == '8') bytes.back() = '7';
                }
            }
            Message message(below(2) == 0 ? "D" : "8");
            for (std::size_t fields = below(20); fields > 0; --fields) {
                std::string value;
                for (std::size_t n = 1 + below(40); n > 0; --n) {
                    value += static_cast<char>(' ' + below(95));
                }
                message.add(static_cast<int>(1000 + below(9000)), value);
            }
            bytes += message.encode();
            written.push_back(message.to_text());
        }
        const Outcome outcome = decode(bytes, 1 + below(60));
        EXPECT_EQ(outcome.messages, written) << "round " << round;
        EXPECT_EQ(outcome.pending, 0U);
    }
}

TEST(FixDecoder, RandomDamageNeverMakesAnotherMessage) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> written;
        std::string bytes;
        for (int n = 0; n < 3; ++n) {
            Message message("D");
            message.set(Tag::msg_seq_num, n + 1).set(Tag::cl_ord_id, "order" + std::to_string(n));
            written.push_back(message.to_text());
            bytes += message.encode();
        }
        // One byte in the first or second message: the last one arrives whole, and the sum sees
        // each change of one byte.
        const std::size_t at = random() % (2 * bytes.size() / 3);
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) + 1 + random() % 255);
        const Outcome outcome = decode(bytes, 1 + random() % 50);
        ASSERT_FALSE(outcome.messages.empty()) << "round " << round;
        EXPECT_EQ(outcome.messages.back(), written.back());
        EXPECT_LE(outcome.messages.size(), 2U);
        for (const std::string& message : outcome.messages) {
            EXPECT_NE(std::find(written.begin(), written.end(), message), written.end());
        }
    }
}

TEST(FixTime, TimestampsThereAndBack) {
    using namespace std::chrono;
    const system_clock::time_point time{milliseconds{1'795'756'620'123}};
    EXPECT_EQ(utc_timestamp(time), "20261127-05:17:00.123");
    EXPECT_TRUE(read_utc_timestamp(utc_timestamp()));
    EXPECT_EQ(read_utc_timestamp("20261127-05:17:00.123"), time);
    EXPECT_EQ(read_utc_timestamp("20261127-05:17:00.123456789"), time + nanoseconds{456'789});
    EXPECT_EQ(read_utc_timestamp("20261127-05:16:60"), time - milliseconds{123});
    EXPECT_EQ(read_utc_timestamp("19700101-00:00:00"), system_clock::time_point{});
    for (const char* wrong : {"", "20261127", "20261327-05:17:00", "20261127-25:17:00",
                              "20261127 05:17:00", "20261127-05:17:00.1234", "20261127-05:17:00.",
                              "20260229-05:17:00", "20261127-05:17:61"}) {
        EXPECT_FALSE(read_utc_timestamp(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace strid::exchange::fix
