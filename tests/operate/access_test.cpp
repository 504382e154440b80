// SPDX-License-Identifier: Apache-2.0
//
// Which requests a server answers: tables of names, origins and tokens.
#include "src/operate/access.hpp"

#include <string>

#include <gtest/gtest.h>

namespace strid::operate {
namespace {

Access access(bool is_local) {
    return {.host = "stream.example",
            .machine = "box",
            .token = std::string(63, '0') + "1",
            .is_local = is_local};
}

int status_of(const Access& access, std::map<std::string, std::string, std::less<>> headers,
              bool acts) {
    headers.emplace("host", "127.0.0.1:8080");
    return refusal(access, {.method = "GET", .path = "/", .headers = std::move(headers)}, acts)
        .status;
}

TEST(Access, TheNameOfTheServerIsAnAddressOrItsOwn) {
    for (const char* const host :
         {"127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "192.168.0.7:1", "localhost", "LocalHost:9",
          "stream.example:443", "STREAM.EXAMPLE", "box:8080"}) {
        EXPECT_EQ(status_of(access(true), {{"host", host}}, false), 0) << host;
    }
    for (const char* const host :
         {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.",
          "xlocalhost", "stream.example.evil.example", "[::1", "[::1]x", "[::1]:x", "127.0.0.1:x",
          "::1", "127.1", "0x7f.1", "a@127.0.0.1", "127.0.0.1/", "box:1:2"}) {
        EXPECT_EQ(status_of(access(true), {{"host", host}}, false), 403) << host;
    }
}

TEST(Access, APageOfAnotherSiteIsRefused) {
    const Access local = access(true);
    EXPECT_EQ(status_of(local, {{"origin", "http://127.0.0.1:8080"}}, false), 0);
    EXPECT_EQ(status_of(local, {{"origin", "https://127.0.0.1:8080"}}, false), 0);
    for (const char* const origin :
         {"", "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:80801",
          "http://localhost:8080", "127.0.0.1:8080", "ftp://127.0.0.1:8080"}) {
        EXPECT_EQ(status_of(local, {{"origin", origin}}, false), 403) << origin;
    }
}

TEST(Access, TheTokenIsNeededToActAndFromElsewhere) {
    const Access local = access(true);
    const Access open = access(false);
    const std::string bearer = "Bearer " + local.token;
    // By `printf 'strid:%063d1' 0 | base64 -w0`.
    const std::string basic =
        "Basic "
        "c3RyaWQ6MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw"
        "MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMQ==";
    EXPECT_EQ(status_of(local, {}, false), 0);
    EXPECT_EQ(status_of(local, {}, true), 401);
    EXPECT_EQ(status_of(open, {}, false), 401);
    EXPECT_EQ(status_of(open, {}, true), 401);
    for (const Access& one : {local, open}) {
        EXPECT_EQ(status_of(one, {{"authorization", bearer}}, true), 0);
        EXPECT_EQ(status_of(one, {{"authorization", bearer}}, false), 0);
        EXPECT_EQ(status_of(one, {{"authorization", "bearer " + one.token}}, true), 0);
        EXPECT_EQ(status_of(one, {{"authorization", basic}}, true), 401);
        EXPECT_EQ(status_of(one, {{"authorization", basic}}, false), 0);
    }
    for (const std::string& given :
         {std::string(), std::string("Bearer"), std::string("Bearer "), bearer + "0",
          bearer.substr(0, bearer.size() - 1), bearer + local.token, "Bearer  " + local.token,
          "Digest " + local.token, basic + "=", std::string("Basic "), local.token}) {
        EXPECT_EQ(status_of(open, {{"authorization", given}}, false), 401) << given;
    }
}

TEST(Access, WithoutASecretNothingIsTheSame) {
    EXPECT_FALSE(is_same_secret("", ""));
    EXPECT_FALSE(is_same_secret("a", ""));
    EXPECT_FALSE(is_same_secret("", "a"));
    EXPECT_FALSE(is_same_secret("aa", "a"));
    EXPECT_FALSE(is_same_secret("b", "a"));
    EXPECT_TRUE(is_same_secret("a", "a"));
}

}  // namespace
}  // namespace strid::operate
