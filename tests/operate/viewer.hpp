// SPDX-License-Identifier: Apache-2.0
//
// For tests of streams of events: a client that reads an answer as it comes, and a server with a
// graph that the test feeds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/operate/http_server.hpp>
#include <strid/stream/graph.hpp>

#include "tests/support/tcp_peer.hpp"

namespace strid::operate {

/// A request whose answer is read as it comes.
class Viewer {
  public:
    explicit Viewer(std::uint16_t port, const std::string& line = "GET /events",
                    const std::string& headers = "Host: localhost\r\n")
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const ::sockaddr_in address = test::loopback(port);
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
    explicit Served(const HttpOptions& http = {}, std::string name = "served")
        : graph(std::move(name)), server(http) {
        auto made = graph.inlet<int>();
        inlet.emplace(std::move(made.first));
        std::move(made.second).sink([](int) {});
        server.prepare({.graph = graph, .options = options});
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    ~Served() { server.end(); }  // before the run that it shows

    void begin() {
        running.emplace(start(graph, options));
        server.begin(*running);
    }
    [[nodiscard]] std::uint16_t port() const { return server.port(); }

    Graph graph;
    RunOptions options;
    HttpServer server;
    std::optional<Inlet<int>> inlet;
    std::optional<Running> running;
};

}  // namespace strid::operate
