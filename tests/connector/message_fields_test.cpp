// SPDX-License-Identifier: Apache-2.0
//
// Fields about a message in its rows, of CSV and of JSON.
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/message_fields.hpp>

#include "drive.hpp"

namespace strid::detail {
namespace {

using test::message_of;
using testing::HasSubstr;

MessageFields fields(const std::string& with) {
    TransportAddress address("log:a?with=" + with);
    return MessageFields(address, {"key", "offset"}, true);
}

std::string row(std::string_view message, std::string_view key = "k\"1") {
    MessageFields added = fields("key,offset");
    const std::array values{MessageFields::Value{key}, MessageFields::Value{"12", true}};
    std::string out = "before\n";
    added.append(out, message, values);
    EXPECT_TRUE(out.starts_with("before\n"));
    return out.substr(7);
}

TEST(MessageFields, StandBehindThoseOfCsv) {
    EXPECT_EQ(row("1,a"), "1,a,\"k\"\"1\",12");
    EXPECT_EQ(row("1,a\r\n"), "1,a,\"k\"\"1\",12");
    EXPECT_EQ(row("1,a\n2,b", "k"), "1,a,k,12\n2,b,k,12");
    EXPECT_EQ(row("1,\"a\nb\"\n\n2,c", "k"), "1,\"a\nb\",k,12\n\n2,c,k,12");
    EXPECT_EQ(row(""), "");
}

TEST(MessageFields, StandBehindThoseOfJson) {
    const std::string added = R"("@key":"k\"1","@offset":12)";
    EXPECT_EQ(row(R"({"a":1})"), R"({"a":1,)" + added + "}");
    EXPECT_EQ(row(R"( { } )"), " { " + added + "} ");
    EXPECT_EQ(row("{\"a\":1}\n\n{\"a\":2}"), "{\"a\":1," + added + "}\n\n{\"a\":2," + added + "}");
    EXPECT_EQ(row(R"({"@key":"forged"})"), R"({"@key":"forged",)" + added + "}");
    EXPECT_EQ(row("{"), "{" + added) << "malformed as it was";
}

TEST(MessageFields, WithoutAValueAreEmptyOrNull) {
    MessageFields added = fields("header.trace,key");
    const std::array<MessageFields::Value, 2> values;
    std::string out;
    added.append(out, "1", values);
    out += '\n';
    added.append(out, "{}", values);
    EXPECT_EQ(out, "1,,\n{\"@trace\":null,\"@key\":null}");
}

TEST(MessageFields, NoneLeaveAMessageAsItIs) {
    MessageFields none = fields("");
    std::string out;
    none.append(out, "{\"a\": 1 }\r\n", {});
    EXPECT_EQ(out, "{\"a\": 1 }\r\n");
}

TEST(MessageFields, ThatAreUnknownOrTwiceAreRefused) {
    EXPECT_THAT(message_of<GraphError>([] { (void)fields("key,size"); }),
                HasSubstr("with: there is no 'size': there are key, offset, and header.NAME"));
    EXPECT_THAT(message_of<GraphError>([] { (void)fields("key,header.key"); }),
                HasSubstr("'@key' is there twice"));
}

}  // namespace
}  // namespace strid::detail
