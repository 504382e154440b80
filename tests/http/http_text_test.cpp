// SPDX-License-Identifier: Apache-2.0
//
// Heads of requests that are read and refused, and responses as text. Which is which is written
// down here by RFC 9112; random bytes must not be taken for a request with another path.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/http/http_text.hpp>

#include "../support/seeds.hpp"

namespace strid::http {
namespace {

TEST(HttpText, AHeadIsReadWithItsHeaders) {
    HttpRequest request;
    EXPECT_EQ(read_head("GET /report?since=1 HTTP/1.1\r\nHost: a:1\r\nX-Long:\t two words \r\n"
                        "Empty:\r\nContent-Length: 0\r\n\r\n",
                        request),
              0);
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.path, "/report");
    EXPECT_EQ(request.header("host"), "a:1");
    EXPECT_EQ(request.header("x-long"), "two words");
    EXPECT_EQ(request.header("empty"), "");
    EXPECT_EQ(request.header("absent"), "");
}

TEST(HttpText, WhatIsNoRequestHereIsRefusedWithItsStatus) {
    const std::vector<std::pair<std::string, int>> heads{
        {"", 400},
        {"GET / HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {"GET  HTTP/1.1\r\n\r\n", 400},
        {"GET a HTTP/1.1\r\n\r\n", 400},
        {"GET * HTTP/1.1\r\n\r\n", 400},
        {"GET /a b HTTP/1.1\r\n\r\n", 400},
        {"G@T / HTTP/1.1\r\n\r\n", 400},
        {" / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.2\r\n\r\n", 505},
        {"GET / HTTP/3\r\n\r\n", 505},
        {"GET / ICY\r\n\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\n\r\n", 400},
        {"GET /\xc3\xa4 HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nA: b\r\na: c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nContent-Length: 00\r\n\r\n", 413},
        {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 413},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n", 413},
    };
    for (const auto& [head, status] : heads) {
        HttpRequest request;
        EXPECT_EQ(read_head(head, request), status) << head;
    }
}

TEST(HttpText, ABodyHasOneEnd) {
    struct Case {
        std::string headers;
        int status = 0;
        BodyFraming body = {};
    };
    const std::vector<Case> cases{
        {"", 0, {}},
        {"Content-Length: 0\r\n", 0, {.is_given = true}},
        {"Content-Length: 0012\r\n", 0, {.is_given = true, .bytes = 12}},
        {"Content-Length: 18446744073709551615\r\n",
         0,
         {.is_given = true, .bytes = 18446744073709551615U}},
        {"Transfer-Encoding: Chunked\r\n", 0, {.is_given = true, .is_chunked = true}},
        {"Content-Length: 18446744073709551616\r\n", 400},
        {"Content-Length:\r\n", 400},
        {"Content-Length: -1\r\n", 400},
        {"Content-Length: +1\r\n", 400},
        {"Content-Length: 1 1\r\n", 400},
        {"Content-Length: 1, 1\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 1\r\n", 400},
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400},
        {"Transfer-Encoding:\r\n", 501},
        {"Transfer-Encoding: gzip, chunked\r\n", 501},
        {"Transfer-Encoding: chunked, chunked\r\n", 501},
        {"Transfer-Encoding: xchunked\r\n", 501},
    };
    for (const Case& one : cases) {
        HttpRequest request;
        BodyFraming body;
        EXPECT_EQ(read_head("POST / HTTP/1.1\r\n" + one.headers + "\r\n", request, body),
                  one.status)
            << one.headers;
        if (one.status != 0) continue;
        EXPECT_EQ(body.is_given, one.body.is_given) << one.headers;
        EXPECT_EQ(body.is_chunked, one.body.is_chunked) << one.headers;
        EXPECT_EQ(body.bytes, one.body.bytes) << one.headers;
    }
    HttpRequest request;
    BodyFraming body;
    EXPECT_EQ(read_head("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", request, body),
              400);
    EXPECT_TRUE(request.is_1_0);
}

TEST(HttpText, RandomChangesOfAHeadAreRefusedOrLeaveAPath) {
    std::mt19937_64 random(test::first_seed());
    const std::string head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    for (int round = 0; round < 20'000; ++round) {
        std::string changed = head;
        for (int i = 0; i < 3; ++i)
            changed[random() % changed.size()] = static_cast<char>(random());
        HttpRequest request;
        if (read_head(changed, request) != 0) continue;
        EXPECT_TRUE(request.path.starts_with('/')) << changed;
        for (const auto& [name, value] : request.headers) {
            EXPECT_EQ(value.find_first_of(std::string("\0\r\n", 3)), std::string::npos) << changed;
        }
    }
}

TEST(HttpText, AResponseHasItsLengthAndNoBodyForHead) {
    const std::string text = text_of(plain(404, "no"), true);
    EXPECT_TRUE(text.starts_with("HTTP/1.1 404 Not Found\r\n")) << text;
    EXPECT_NE(text.find("\r\nContent-Length: 3\r\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\r\nConnection: close\r\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\r\n\r\nno\n")) << text;
    EXPECT_EQ(text_of(plain(404, "no"), false) + "no\n", text);
    HttpResponse kept = plain(200, "ready");
    kept.keeps_connection = true;
    EXPECT_EQ(text_of(kept, true).find("Connection"), std::string::npos);
}

}  // namespace
}  // namespace strid::http
