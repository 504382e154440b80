// SPDX-License-Identifier: Apache-2.0
//
// Server-sent events of the HTTP server: a stream at its beginning, each second and at its end,
// the number of streams, and access to them. The client is of this test.
#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/operate/http_server.hpp>
#include <strid/stream/graph.hpp>

namespace strid::operate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A request whose answer is read as it comes.
class Viewer {
  public:
    explicit Viewer(std::uint16_t port, const std::string& line = "GET /events",
                    const std::string& headers = "Host: localhost\r\n")
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        ::sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<const ::sockaddr*>(&address), sizeof address),
                  0);
        const std::string text = line + " HTTP/1.1\r\n" + headers + "\r\n";
        EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    Viewer(Viewer&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)), text_(std::move(other.text_)) {}
    Viewer& operator=(Viewer&&) = delete;
    ~Viewer() {
        if (socket_ >= 0) ::close(socket_);
    }

    /// Reads until the text has this so many times, or 20 s are over.
    bool reads(const std::string& part, std::size_t times = 1) {
        while (count(part) < times) {
            if (!read_some()) return false;
        }
        return true;
    }
    /// Reads to the end.
    const std::string& rest() {
        while (read_some()) {
        }
        return text_;
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::size_t count(const std::string& part) const {
        std::size_t found = 0;
        for (std::size_t at = text_.find(part); at != std::string::npos;
             at = text_.find(part, at + part.size())) {
            ++found;
        }
        return found;
    }

  private:
    bool read_some() {
        ::pollfd waited{socket_, POLLIN, 0};
        if (::poll(&waited, 1, 20'000) <= 0) return false;
        std::array<char, 4096> piece{};
        const ssize_t bytes = ::recv(socket_, piece.data(), piece.size(), 0);
        if (bytes <= 0) return false;
        text_.append(piece.data(), static_cast<std::size_t>(bytes));
        return true;
    }

    int socket_;
    std::string text_;
};

/// A server with a graph whose records are pushed by the test.
struct Served {
    explicit Served(const HttpOptions& http = {}) : server(http) {
        auto made = graph.inlet<int>();
        inlet.emplace(std::move(made.first));
        std::move(made.second).sink([](int) {});
        server.prepare({.graph = graph, .options = options});
    }
    void begin() {
        running.emplace(start(graph, options));
        server.begin(*running);
    }
    [[nodiscard]] std::uint16_t port() const { return server.port(); }

    Graph graph{"served"};
    RunOptions options;
    HttpServer server;
    std::optional<Inlet<int>> inlet;
    std::optional<Running> running;
};

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
    Served served({.connections_max = 8, .streams_max = 5});
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
