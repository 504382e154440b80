// SPDX-License-Identifier: Apache-2.0
//
// The HTTP server in a program that calls start() itself. A client of this test speaks to it; the
// command line has tests of everything else (tests/command_line/http_runs.py).
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/operate/http_server.hpp>
#include <strid/stream/graph.hpp>

#include "tests/support/tcp_peer.hpp"

namespace strid::operate {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// The answer to a request; empty where nothing listens.
std::string ask(std::uint16_t port, const std::string& line, const std::string& header = {}) {
    return test::answer_to(port, line + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n");
}

TEST(HttpServer, ARunOfAProgramIsShownAndStopped) {
    Graph graph{"served"};
    auto [inlet, numbers] = graph.inlet<int>();
    std::move(numbers).sink([](int) {});
    const RunOptions options;
    HttpServer server({.port = 0});
    EXPECT_EQ(server.port(), 0);
    server.prepare({.graph = graph, .options = options});
    const std::uint16_t port = server.port();
    EXPECT_THAT(ask(port, "GET /healthz"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(ask(port, "GET /readyz"), StartsWith("HTTP/1.1 503 "));
    Running running = start(graph, options);
    server.begin(running);
    EXPECT_THAT(ask(port, "GET /readyz"), StartsWith("HTTP/1.1 200 "));
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(inlet.push(i));
    while (ask(port, "GET /metrics").find("\nstrid_records_out_total{graph=\"served\"} 300\n") ==
           std::string::npos) {
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_THAT(ask(port, "POST /stop"), StartsWith("HTTP/1.1 401 "));
    EXPECT_FALSE(running.wait_for(20ms));
    std::string token;
    std::ifstream(server.token_path()) >> token;
    EXPECT_THAT(ask(port, "POST /stop", "Authorization: Bearer " + token + "\r\n"),
                StartsWith("HTTP/1.1 202 "));
    EXPECT_EQ(running.wait().records_in(), 300U);
    EXPECT_THAT(ask(port, "GET /readyz"), HasSubstr("the run is over"));
    EXPECT_THAT(ask(port, "GET /report"), HasSubstr("\"running\":false,"));
    const std::string path = server.token_path();
    server.end();
    EXPECT_EQ(ask(port, "GET /healthz"), "");
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
    server.end();
}

TEST(HttpServer, APortInUseIsAnError) {
    Graph graph{"served"};
    auto [inlet, numbers] = graph.inlet<int>();
    std::move(numbers).sink([](int) {});
    const RunOptions options;
    HttpServer first({.port = 0});
    first.prepare({.graph = graph, .options = options});
    HttpServer second({.port = first.port()});
    EXPECT_THROW(second.prepare({.graph = graph, .options = options}), InputOutputError);
    second.end();
    EXPECT_THAT(ask(first.port(), "GET /healthz"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, AddressesAreRead) {
    HttpOptions options;
    read_http_address("[::1]:8080", options);
    EXPECT_EQ(options.host, "::1");
    EXPECT_EQ(options.port, 8080);
    read_http_address("stream.example:0", options);
    EXPECT_EQ(options.host, "stream.example");
    EXPECT_EQ(options.port, 0);
    for (const char* const text :
         {"", ":1", "a", "a:", "a:x", "a:1x", "a:65536", "::1:80", "[]:1"}) {
        EXPECT_THROW(read_http_address(text, options), GraphError) << text;
    }
}

}  // namespace
}  // namespace strid::operate
