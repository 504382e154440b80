// SPDX-License-Identifier: Apache-2.0
//
// The input of lines that are posted by HTTP, read without a graph: when a body is answered, and
// what the end of the input answers. Clients of this test speak to it; tests/transports has those
// of Python and curl, and runs that are killed.
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/connector/transport.hpp>

#include "../support/tcp_peer.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

std::uint16_t free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    ::sockaddr_in address = test::loopback(0);
    ::socklen_t bytes = sizeof address;
    EXPECT_EQ(::bind(socket, reinterpret_cast<const ::sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<::sockaddr*>(&address), &bytes), 0);
    ::close(socket);
    return ntohs(address.sin_port);
}

class HttpInputs : public testing::Test {
  protected:
    void open(const std::string& query = {}) {
        input = open_transport_input("http-listen://:" + std::to_string(port) + "?" + query);
    }

    /// Posts a body; the answer comes later.
    std::future<std::string> post(const std::string& body, const std::string& header = {}) const {
        return send(header + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    /// A request from its last headers on.
    std::future<std::string> send(std::string rest) const {
        return std::async(std::launch::async, [port = port, rest = std::move(rest)] {
            return test::answer_to(
                port, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + rest);
        });
    }

    /// Reads so many bytes, in pieces.
    std::string read(std::size_t bytes, std::size_t piece = 1'000) const {
        std::string text;
        std::vector<char> buffer(piece);
        for (int i = 0; i != 6'000 && text.size() < bytes; ++i) {
            const auto found = input->read(buffer, 10);
            text.append(buffer.data(), found.bytes);
        }
        EXPECT_EQ(text.size(), bytes);
        return text;
    }
    static bool waits(const std::future<std::string>& answer) {
        return answer.wait_for(50ms) == std::future_status::timeout;
    }

    const std::uint16_t port = free_port();
    std::unique_ptr<TransportInput> input;
};

TEST_F(HttpInputs, ABodyIsAnsweredWhenItsRowsArePassed) {
    open();
    auto first = post("a\nb");
    EXPECT_EQ(read(2, 2), "a\n");
    EXPECT_EQ(input->message_bytes_left(), 2U);
    EXPECT_EQ(read(2), "b\n");
    EXPECT_EQ(input->message_bytes_left(), 0U);
    input->passed(3);
    EXPECT_TRUE(waits(first));
    input->passed(4);
    EXPECT_THAT(first.get(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpInputs, WithAJournalABodyIsAnsweredWhenTheJournalHasIt) {
    open();
    input->passed(1'000);  // of the journal of a run before
    input->accepted(0);
    auto answer = post("a\nb\n");
    EXPECT_EQ(read(4), "a\nb\n");
    input->passed(1'004);
    EXPECT_TRUE(waits(answer));
    input->accepted(4);
    EXPECT_THAT(answer.get(), HasSubstr("{\"lines\": 2}"));
}

TEST_F(HttpInputs, TheEndRefusesWhatWasNotTaken) {
    open();
    input->accepted(0);
    auto taken = post("taken\n");
    read(6);
    input->accepted(6);
    EXPECT_THAT(taken.get(), StartsWith("HTTP/1.1 200 "));
    auto half = post("half\n");
    read(3, 3);
    auto waiting = post("waiting\n");
    EXPECT_TRUE(waits(waiting));
    EXPECT_EQ(input->bytes_waiting(), 10U);
    input.reset();
    EXPECT_THAT(half.get(), StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(waiting.get(), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpInputs, ABodyThatMayHaveBeenHandledIsNotAnsweredAtTheEnd) {
    open();
    auto half = post("half\n");
    read(3, 3);
    auto waiting = post("waiting\n");
    EXPECT_TRUE(waits(waiting));
    input.reset();
    EXPECT_EQ(half.get(), "");
    EXPECT_THAT(waiting.get(), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpInputs, WithoutRoomNothingOfABodyIsTaken) {
    open("body=10&waiting=20");
    auto first = post("aaaaaaaaa\n");
    EXPECT_TRUE(waits(first));
    auto second = post("bbbbbbbbb\n");
    EXPECT_TRUE(waits(second));
    EXPECT_THAT(post("c\n").get(), StartsWith("HTTP/1.1 429 "));
    EXPECT_THAT(post("ccccccccccc\n").get(), StartsWith("HTTP/1.1 413 "));
    read(20);
    auto third = post("c\n");
    EXPECT_EQ(read(2), "c\n");
    input->passed(22);
    for (auto* const answer : {&first, &second, &third}) {
        EXPECT_THAT(answer->get(), StartsWith("HTTP/1.1 200 "));
    }
}

/// A body for which there is no room in its middle gives back what it has.
TEST_F(HttpInputs, RoomComesBack) {
    open("body=40000&waiting=50000");
    for (std::uint64_t i = 1; i != 4; ++i) {
        auto held = post(std::string(29'999, 'a') + '\n');
        EXPECT_TRUE(waits(held));
        // Its length is not known before: there seems to be room.
        const std::string chunk = "9c3f\r\n" + std::string(39'998, 'b') + "\n\r\n0\r\n\r\n";
        EXPECT_THAT(send("Transfer-Encoding: chunked\r\n\r\n" + chunk).get(),
                    StartsWith("HTTP/1.1 429 "));
        EXPECT_EQ(read(30'000), std::string(29'999, 'a') + '\n');
        input->passed(i * 30'000);
        EXPECT_THAT(held.get(), StartsWith("HTTP/1.1 200 "));
    }
    auto longest = post(std::string(39'999, 'c') + '\n');
    EXPECT_EQ(read(40'000), std::string(39'999, 'c') + '\n');
    input->passed(3 * 30'000 + 40'000);
    EXPECT_THAT(longest.get(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpInputs, ABodyThatNothingReadsIsGivenUp) {
    open("within=300ms");
    const std::string key = "Idempotency-Key: 1\r\n";
    EXPECT_THAT(post("a\n", key).get(), StartsWith("HTTP/1.1 429 "));
    EXPECT_EQ(input->bytes_waiting(), 0U);
    auto again = post("b\n", key);
    EXPECT_EQ(read(2), "b\n");
    input->passed(2);
    EXPECT_THAT(again.get(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(post("b\n", key).get(), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(post("c\n", key).get(), StartsWith("HTTP/1.1 422 "));
}

TEST_F(HttpInputs, BodiesOfManyClientsAreNotMixed) {
    open();
    constexpr std::size_t clients = 16;
    std::vector<std::future<std::string>> answers;
    for (std::size_t i = 0; i != clients; ++i) {
        answers.push_back(post(std::string(99, static_cast<char>('a' + i)) + '\n'));
    }
    std::string text = read(clients * 100, 30);
    input->passed(text.size());
    for (auto& answer : answers) EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 200 "));
    for (std::size_t i = 0; i != clients; ++i) {
        EXPECT_EQ(text.substr(i * 100, 100), std::string(99, text[i * 100]) + '\n');
    }
}

}  // namespace
}  // namespace strid
