// SPDX-License-Identifier: Apache-2.0
//
// A viewer that reads nothing loses its stream of events after the time for a response.
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/operate/viewer.hpp"

namespace strid::operate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(SlowViewers, LoseTheirStreamAndDelayNothing) {
    // An event is larger than the buffers of the system.
    constexpr std::size_t name_bytes = std::size_t{32} << 20;
    Served served({.streams_max = 1}, std::string(name_bytes, 'a'));
    served.begin();
    const auto begin = Clock::now();
    const Viewer slow(served.port());
    std::this_thread::sleep_for(1s);
    EXPECT_TRUE(Viewer(served.port()).rest().starts_with("HTTP/1.1 503 "));
    bool has_room = false;
    while (!has_room && Clock::now() - begin < 60s) {
        const auto asked = Clock::now();
        EXPECT_TRUE(Viewer(served.port(), "GET /healthz").rest().starts_with("HTTP/1.1 200 "));
        EXPECT_LT(Clock::now() - asked, 2s);
        std::this_thread::sleep_for(200ms);
        Viewer next(served.port());
        has_room = next.reads("HTTP/1.1 200 ");
    }
    EXPECT_TRUE(has_room);
    EXPECT_GE(Clock::now() - begin, 9s);
    EXPECT_LT(Clock::now() - begin, 30s);
}

TEST(SlowViewers, DoNotDelayTheEndForMoreThanASecond) {
    constexpr std::size_t name_bytes = std::size_t{32} << 20;
    Served served({}, std::string(name_bytes, 'a'));
    served.begin();
    const Viewer slow(served.port());
    std::this_thread::sleep_for(500ms);
    const auto begin = Clock::now();
    served.server.end();
    EXPECT_LT(Clock::now() - begin, 3s);
}

}  // namespace
}  // namespace strid::operate
