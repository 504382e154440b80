// SPDX-License-Identifier: Apache-2.0
//
// Server-sent events of the HTTP server: a stream at its beginning, each second and at its end,
// the number of streams, and access to them.
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/operate/viewer.hpp"

namespace strid::operate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Events, TheFirstComesAtOnceAndOneEachSecond) {
    Served served;
    served.begin();
    const auto begin = Clock::now();
    Viewer viewer(served.port());
    ASSERT_TRUE(viewer.reads("data: {\"time\":"));
    EXPECT_LT(Clock::now() - begin, 900ms);
    EXPECT_THAT(viewer.text(),
                StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
    EXPECT_THAT(viewer.text(), Not(HasSubstr("Content-Length")));
    EXPECT_THAT(viewer.text(), HasSubstr("\r\n\r\nretry: 1000\n\ndata: {"));
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(served.inlet->push(i));
    ASSERT_TRUE(viewer.reads("\"records_out\":300,"));
    const std::size_t before = viewer.count("data: ");
    const auto since = Clock::now();
    ASSERT_TRUE(viewer.reads("data: ", before + 3));
    EXPECT_GT(Clock::now() - since, 1500ms);
    EXPECT_EQ(viewer.count("data: "), viewer.count("\"running\":true,"));
}

TEST(Events, TheLastIsThatOfTheEndOfTheRun) {
    Served served;
    served.begin();
    Viewer viewer(served.port());
    ASSERT_TRUE(viewer.reads("data: {"));
    EXPECT_TRUE(served.inlet->push(1));
    served.running->stop();
    served.running->wait();
    EXPECT_THAT(viewer.rest(), HasSubstr("\"running\":false,"));
    EXPECT_THAT(viewer.text().substr(viewer.text().rfind("data: ")),
                HasSubstr("\"records_out\":1,"));
    // So do those that come later.
    Viewer late(served.port());
    EXPECT_THAT(late.rest(), HasSubstr("data: {"));
    EXPECT_EQ(late.count("\"running\":false,"), 1U);
}

TEST(Events, BeforeTheRunThereAreComments) {
    Served served;
    Viewer viewer(served.port());
    ASSERT_TRUE(viewer.reads(": the run is being started\n\n"));
    EXPECT_EQ(viewer.count("data: "), 0U);
    served.begin();
    EXPECT_TRUE(viewer.reads("data: {"));
}

TEST(Events, TheEndOfTheServerClosesStreamsAtOnceBehindALastEvent) {
    Served served;
    served.begin();
    std::vector<Viewer> viewers;
    for (int i = 0; i < 10; ++i) viewers.emplace_back(served.port());
    for (Viewer& viewer : viewers) ASSERT_TRUE(viewer.reads("data: {"));
    served.inlet->close();
    served.running->wait();
    const auto begin = Clock::now();
    served.server.end();
    EXPECT_LT(Clock::now() - begin, 900ms);
    for (Viewer& viewer : viewers) {
        EXPECT_THAT(viewer.rest(), HasSubstr("\"running\":false,"));
        EXPECT_TRUE(viewer.text().ends_with("\n\n"));
    }
}

TEST(Events, StreamsAreLimitedAndLeaveRoomForOtherRequests) {
    Served served({.streams_max = 5});
    served.begin();
    std::vector<Viewer> viewers;
    for (int i = 0; i < 5; ++i) viewers.emplace_back(served.port());
    for (Viewer& viewer : viewers) ASSERT_TRUE(viewer.reads("data: {"));
    const std::string full = Viewer(served.port()).rest();
    EXPECT_THAT(full, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(full, HasSubstr("5 viewers have a stream of events, which is the limit"));
    for (int i = 0; i < 10; ++i) {
        const auto begin = Clock::now();
        EXPECT_THAT(Viewer(served.port(), "GET /healthz").rest(), StartsWith("HTTP/1.1 200 "));
        EXPECT_LT(Clock::now() - begin, 2s);
    }
    // A viewer that leaves makes room.
    viewers.pop_back();
    const auto deadline = Clock::now() + 20s;
    for (;;) {
        Viewer next(served.port());
        if (next.reads("data: {")) break;
        ASSERT_LT(Clock::now(), deadline);
        std::this_thread::sleep_for(10ms);
    }
}

TEST(Events, AccessIsThatOfTheReport) {
    Served served;
    served.begin();
    const auto answer = [&](const std::string& line, const std::string& headers) {
        return Viewer(served.port(), line, headers).rest();
    };
    EXPECT_THAT(answer("GET /events", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(answer("GET /events", "Host: localhost\r\nOrigin: http://evil.example\r\n"),
                StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(answer("POST /events", "Host: localhost\r\n"), StartsWith("HTTP/1.1 405 "));
    const std::string head = answer("HEAD /events", "Host: localhost\r\n");
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
    EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(Events, FromOtherMachinesTheTokenIsNeeded) {
    Served served({.host = "0.0.0.0"});
    served.begin();
    EXPECT_THAT(Viewer(served.port()).rest(), StartsWith("HTTP/1.1 401 "));
    std::string token;
    std::ifstream(served.server.token_path()) >> token;
    Viewer viewer(served.port(), "GET /events",
                  "Host: localhost\r\nAuthorization: Bearer " + token + "\r\n");
    EXPECT_TRUE(viewer.reads("data: {"));
}

}  // namespace
}  // namespace strid::operate
