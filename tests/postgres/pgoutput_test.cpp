// SPDX-License-Identifier: Apache-2.0
//
// Messages of pgoutput, put together here as PostgreSQL's manual describes them ("Logical
// Replication Message Formats", "Streaming Replication Protocol"): whole, cut off at every byte,
// and with every byte changed.
#include "../../src/postgres/pgoutput.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../src/postgres/change_place.hpp"

namespace strid::postgres {
namespace {

using testing::ElementsAre;
using Kind = ChangeMessage::Kind;

/// Big-endian, of so many bytes.
std::string number(std::uint64_t value, int bytes) {
    std::string text;
    while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
    return text;
}
std::string name(std::string_view text) {
    return std::string(text) + '\0';
}
std::string value(std::string_view text) {
    return 't' + number(text.size(), 4) + std::string(text);
}
std::string tuple(const std::vector<std::string>& values) {
    std::string text = number(values.size(), 2);
    for (const std::string& one : values) text += one;
    return text;
}

constexpr std::uint64_t commit_at = 0x16'B374D848;
constexpr std::int64_t us_2026 = 1'767'225'600'000'000;
constexpr std::uint64_t us_2026_from_2000 = 820'540'800'000'000;

const std::string begin_message =
    'B' + number(commit_at, 8) + number(us_2026_from_2000, 8) + number(77, 4);
const std::string commit_message = 'C' + number(0, 1) + number(commit_at, 8) +
                                   number(commit_at + 48, 8) + number(us_2026_from_2000, 8);
const std::string relation_message =
    'R' + number(4'000'000'000, 4) + name("public") + name("trades") + 'd' + number(2, 2) +
    number(1, 1) + name("at") + number(20, 4) + number(UINT32_MAX, 4) + number(0, 1) +
    name("symbol") + number(25, 4) + number(UINT32_MAX, 4);
const std::string insert_message =
    'I' + number(9, 4) + 'N' + tuple({value("17"), value(""), "n", value("a\nb")});
const std::string update_message = 'U' + number(9, 4) + 'N' + tuple({value("17"), "u"});
const std::string key_update_message =
    'U' + number(9, 4) + 'K' + tuple({value("16"), "n"}) + 'N' + tuple({value("17"), value("x")});
const std::string full_update_message =
    'U' + number(9, 4) + 'O' + tuple({value("17"), value("y")}) + 'N' + tuple({value("17"), "u"});
const std::string delete_message = 'D' + number(9, 4) + 'K' + tuple({value("17"), "n"});
const std::string truncate_message =
    'T' + number(2, 4) + number(1, 1) + number(8, 4) + number(9, 4);
const std::string origin_message = 'O' + number(5, 8) + name("other");
const std::string type_message = 'Y' + number(5, 4) + name("public") + name("mood");

const std::vector<std::string> messages = {
    begin_message,    commit_message, relation_message,   insert_message,
    update_message,   delete_message, key_update_message, full_update_message,
    truncate_message, origin_message, type_message};

/// The values of a row: `-` for no value, `=` for one that is unchanged.
std::vector<std::string> shown(const std::vector<ChangedValue>& row) {
    std::vector<std::string> texts;
    for (const ChangedValue& one : row) {
        texts.emplace_back(one.kind == ChangedValue::Kind::null        ? "-"
                           : one.kind == ChangedValue::Kind::unchanged ? "="
                                                                       : one.text);
    }
    return texts;
}

TEST(PgOutput, TransactionsAreRead) {
    ChangeMessage message;
    message.read(begin_message);
    EXPECT_EQ(message.kind, Kind::begin);
    EXPECT_EQ(message.commit, commit_at);
    EXPECT_EQ(message.time_us, us_2026);
    message.read(commit_message);
    EXPECT_EQ(message.kind, Kind::commit);
    EXPECT_EQ(message.end, commit_at + 48);
}

TEST(PgOutput, TablesAreRead) {
    ChangeMessage message;
    message.read(relation_message);
    EXPECT_EQ(message.kind, Kind::relation);
    EXPECT_EQ(message.relation, 4'000'000'000);
    EXPECT_EQ(message.schema + '.' + message.name, "public.trades");
    EXPECT_THAT(message.columns, ElementsAre("at", "symbol"));
    message.read(truncate_message);
    EXPECT_EQ(message.kind, Kind::truncate);
    EXPECT_THAT(message.truncated, ElementsAre(8, 9));
}

TEST(PgOutput, ChangesAreRead) {
    ChangeMessage message;
    message.read(insert_message);
    EXPECT_EQ(message.kind, Kind::insert);
    EXPECT_EQ(message.relation, 9);
    EXPECT_THAT(shown(message.row), ElementsAre("17", "", "-", "a\nb"));
    EXPECT_FALSE(message.has_old);
    message.read(update_message);
    EXPECT_EQ(message.kind, Kind::update);
    EXPECT_THAT(shown(message.row), ElementsAre("17", "="));
    EXPECT_FALSE(message.has_old);
    message.read(key_update_message);
    EXPECT_TRUE(message.has_old);
    EXPECT_THAT(shown(message.old), ElementsAre("16", "-"));
    EXPECT_THAT(shown(message.row), ElementsAre("17", "x"));
    message.read(full_update_message);
    EXPECT_TRUE(message.has_old);
    EXPECT_THAT(shown(message.old), ElementsAre("17", "y"));
    message.read(delete_message);
    EXPECT_EQ(message.kind, Kind::remove);
    EXPECT_THAT(shown(message.old), ElementsAre("17", "-"));
}

// Each is copied to the end of an allocation of its size: a sanitizer sees a byte read behind it.
TEST(PgOutput, AMessageThatIsCutOffIsRefused) {
    for (const std::string& whole : messages) {
        for (std::size_t size = 0; size != whole.size(); ++size) {
            const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(size));
            ChangeMessage message;
            EXPECT_THROW(message.read({cut.data(), cut.size()}), MalformedMessage)
                << whole[0] << ' ' << size;
        }
        ChangeMessage message;
        EXPECT_NO_THROW(message.read(whole)) << whole[0];
        EXPECT_THROW(message.read(whole + '\0'), MalformedMessage) << whole[0];
    }
}

TEST(PgOutput, AnyByteMayBeAnyOther) {
    for (const std::string& whole : messages) {
        for (std::size_t at = 0; at != whole.size(); ++at) {
            for (const int byte : {0, 1, 0x7f, 0x80, 0xff}) {
                std::vector<char> changed(whole.begin(), whole.end());
                changed[at] = static_cast<char>(byte);
                ChangeMessage message;
                try {
                    message.read({changed.data(), changed.size()});
                } catch (const MalformedMessage&) {
                    continue;
                }
                for (const auto& row : {message.row, message.old}) {
                    for (const ChangedValue& one : row) EXPECT_LE(one.text.size(), whole.size());
                }
            }
        }
    }
}

TEST(PgOutput, ReplicationIsRead) {
    const std::string data = 'w' + number(1, 8) + number(2, 8) + number(3, 8) + insert_message;
    const ReplicationMessage read = read_replication_message(data);
    EXPECT_FALSE(read.is_sign_of_life);
    EXPECT_EQ(read.bytes, insert_message);
    const std::string life = 'k' + number(commit_at, 8) + number(3, 8) + '\1';
    EXPECT_TRUE(read_replication_message(life).is_sign_of_life);
    EXPECT_EQ(read_replication_message(life).sent_up_to, commit_at);
    for (std::size_t size = 0; size != 25; ++size) {
        EXPECT_THROW((void)read_replication_message(data.substr(0, size)), MalformedMessage);
        if (size >= life.size()) continue;
        EXPECT_THROW((void)read_replication_message(life.substr(0, size)), MalformedMessage);
    }
    EXPECT_THROW((void)read_replication_message("x" + life), MalformedMessage);
}

TEST(PgOutput, AStatusIsWritten) {
    EXPECT_EQ(status_message(commit_at, us_2026), 'r' + number(commit_at, 8) +
                                                      number(commit_at, 8) + number(commit_at, 8) +
                                                      number(us_2026_from_2000, 8) + '\0');
}

TEST(PgOutput, PlacesAreTexts) {
    EXPECT_EQ(text_of_lsn(commit_at), "16/B374D848");
    EXPECT_EQ(read_lsn("16/B374D848"), commit_at);
    EXPECT_EQ(read_lsn("0/0"), 0);
    for (const char* const text : {"", "/", "1/", "/1", "1", "1/x", "1/123456789", "-1/0"}) {
        EXPECT_EQ(read_lsn(text), std::nullopt) << text;
    }
    for (const auto kind : {ChangePlace::Kind::copy, ChangePlace::Kind::log}) {
        const SavedPlace saved{{kind, 5, 0xfedcba9876543210, 7}, "74", "at,\"a b\", c"};
        const std::string text = text_of(saved);
        const auto read = read_place(text);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->place, saved.place);
        EXPECT_EQ(read->system, saved.system);
        EXPECT_EQ(read->header, saved.header);
        for (std::size_t size = 0; size != text.find("at"); ++size) {
            EXPECT_FALSE(read_place(text.substr(0, size))) << size;
        }
    }
}

}  // namespace
}  // namespace strid::postgres
