// SPDX-License-Identifier: Apache-2.0
//
// Addresses of transports.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>

#include "drive.hpp"

namespace strid {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TransportAddresses, HaveParts) {
    TransportAddress address("memory://host/a%20b?table=t%2e1&keys=a,b&odd=50%&plus=a+b");
    EXPECT_EQ(address.scheme(), "memory");
    EXPECT_EQ(address.place(), "//host/a%20b");
    EXPECT_EQ(address.decoded_place(), "//host/a b");
    EXPECT_EQ(address.take("table"), "t.1");
    EXPECT_EQ(address.take("table"), "");
    EXPECT_THAT(address.take_list("keys"), ElementsAre("a", "b"));
    EXPECT_EQ(address.take("plus"), "a+b");
    EXPECT_EQ(message_of<GraphError>([&] { address.expect_no_more("there are others"); }),
              address.text() + ": there is no option 'odd': there are others");
    EXPECT_EQ(address.take("odd"), "50%");
    address.expect_no_more("");
}

TEST(TransportAddresses, AreRefusedWithAReason) {
    const auto fault = [](const char* text) {
        return message_of<GraphError>([text] { TransportAddress address(text); });
    };
    EXPECT_THAT(fault("bars.csv"), HasSubstr("is no address"));
    EXPECT_THAT(fault("sqlite:a?=1"), HasSubstr("no name"));
    EXPECT_THAT(fault("sqlite:a?x=1&x=2"), HasSubstr("'x' is given twice"));
    for (const char* const secret :
         {"postgres://me:secret@host/db?table=t", "postgres://host/db?table=t&password=secret",
          "postgres://me:secret@host"}) {
        const std::string text = fault(secret);
        EXPECT_THAT(text, HasSubstr("holds no password"));
        EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    }
    EXPECT_NO_THROW(TransportAddress("postgres://me@host:5432/db?table=t"));
    EXPECT_NO_THROW(TransportAddress("postgres://host/db?query=select '//a:b@c'"));
}

TEST(TransportAddresses, AreFilesOfColumns) {
    for (const char* const file : {"a.parquet", "./b c.parquet", "/d/e.arrow", "x?.feather"}) {
        EXPECT_TRUE(is_transport_address(file)) << file;
        const TransportAddress address(file);
        EXPECT_EQ(address.scheme(), "parquet");
        EXPECT_EQ(address.decoded_place(), file);
    }
    EXPECT_EQ(TransportAddress("50%25.parquet").decoded_place(), "50%25.parquet");
    EXPECT_FALSE(transport_goes_away("a.parquet"));
    EXPECT_THAT(message_of<GraphError>([] { (void)csv_file<int>("a.parquet"); }),
                HasSubstr("pyarrow"));
}

TEST(TransportAddresses, AreNoFiles) {
    EXPECT_TRUE(is_transport_address("sqlite:bars.db?table=bars"));
    EXPECT_TRUE(is_transport_address("postgres:///db"));
    EXPECT_TRUE(is_transport_address("http-listen://:80"));  // of every program
    EXPECT_TRUE(transport_goes_away("http-listen://:80"));
    for (const char* const file : {"bars.csv", "a/b:c", "C:bars", "follow:x", "tcp://h:1", "-", "",
                                   ":x", "sqlite", "./sqlite:x"}) {
        EXPECT_FALSE(is_transport_address(file)) << file;
    }
    EXPECT_THAT(message_of<GraphError>([] { (void)make_row_output("sqlite:x", Writing::whole); }),
                HasSubstr("libsqlite3-dev"));
    for (const char* const server : {"http://host/hook", "https://host/hook"}) {
        EXPECT_THAT(message_of<GraphError>([&] { (void)make_row_output(server, Writing::whole); }),
                    HasSubstr("libcurl4-openssl-dev"));
    }
    EXPECT_THAT(message_of<GraphError>([] { (void)csv_file<int>("postgres:///x?table=t"); }),
                HasSubstr("links strid::postgres"));
}

}  // namespace
}  // namespace strid
