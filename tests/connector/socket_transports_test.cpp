// SPDX-License-Identifier: Apache-2.0
//
// Sockets with options, read and written without a graph: messages in any pieces, clients that come
// at once while the input ends, readers that leave while rows are written. tests/transports has
// runs, clients of Python's and TLS.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/reloads.hpp>

#include "../../src/connector/message_cutter.hpp"
#include "../support/folder.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using detail::Framing;
using detail::MessageCutter;

std::string with_length(std::string_view payload) {
    const auto bytes = static_cast<std::uint32_t>(payload.size());
    std::string message;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) message += static_cast<char>(bytes >> shift);
    return message += payload;
}

TEST(MessageCutter, PiecesOfAnySizeGiveTheSameMessages) {
    std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
    for (int i = 0; i != 300; ++i) {
        std::string lines;
        std::string messages;
        for (int j = 0; j != 20; ++j) {
            const std::string payload(random() % 40, static_cast<char>('a' + j));
            messages += with_length(payload);
            if (!payload.empty()) lines += payload + '\n';
        }
        MessageCutter of_lines(Framing::lines, 40);
        MessageCutter of_lengths(Framing::length32, 40);
        std::string whole_lines;
        std::string whole_messages;
        const auto add = [&](MessageCutter& cutter, std::string_view text, std::string& whole) {
            while (!text.empty()) {
                const std::size_t bytes = std::min<std::size_t>(1 + random() % 50, text.size());
                ASSERT_TRUE(cutter.add(text.substr(0, bytes), whole));
                text.remove_prefix(bytes);
            }
        };
        add(of_lines, lines + "begun", whole_lines);
        add(of_lengths, messages + with_length("begun").substr(0, 6), whole_messages);
        EXPECT_EQ(whole_lines, lines);
        EXPECT_EQ(whole_messages, lines);
        EXPECT_TRUE(of_lines.has_begun());
        EXPECT_TRUE(of_lengths.has_begun());
    }
}

TEST(MessageCutter, AMessageThatIsTooLongIsTheLast) {
    MessageCutter lines(Framing::lines, 5);
    std::string whole;
    EXPECT_TRUE(lines.add("abcde\nab", whole));
    EXPECT_FALSE(lines.add("cd\n123456\n1\n", whole));
    EXPECT_EQ(whole, "abcde\nabcd\n");
    MessageCutter begun(Framing::lines, 5);
    EXPECT_TRUE(begun.add("abcde", whole));
    EXPECT_FALSE(begun.add("f", whole));
    whole.clear();
    MessageCutter lengths(Framing::length32, 5);
    EXPECT_FALSE(lengths.add(with_length("abcde") + with_length("123456"), whole));
    EXPECT_EQ(whole, "abcde\n");
}

class UnixSockets : public testing::Test {
  protected:
    /// Its descriptor, or -1 where nothing listens.
    [[nodiscard]] int connect() const {
        const int peer = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ::sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(path.begin(), path.end(), address.sun_path);
        if (::connect(peer, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) == 0) {
            return peer;
        }
        ::close(peer);
        return -1;
    }
    static void send(int peer, std::string_view text) {
        while (!text.empty()) {
            const auto sent = ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent < 0) return;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    const test::Folder folder;
    const std::string path = folder.file("a.sock");
};

TEST_F(UnixSockets, LinesOfManyClientsAreThereOnce) {
    const std::string address = "unix-listen://" + path + "?clients=";
    auto input = open_transport_input(address + "6");
    constexpr int clients = 12;
    constexpr int lines = 3'000;
    std::atomic<int> at_work{clients};
    std::vector<std::thread> threads;
    for (int client = 0; client != clients; ++client) {
        threads.emplace_back([&, client] {
            const int peer = connect();
            std::string text;
            for (int line = 0; line != lines; ++line) {
                text += std::to_string(client) + "-" + std::to_string(line) + "\n";
            }
            send(peer, text + "begun");
            ::close(peer);
            --at_work;
        });
    }
    std::string text;
    std::vector<char> buffer(10'000);
    const auto read = [&](int wait_ms) {
        const auto got = input->read(buffer, wait_ms);
        text.append(buffer.data(), got.bytes);
        input->passed(text.size());
        return got.bytes != 0;
    };
    for (int i = 0; at_work != 0; ++i) {
        (void)read(1);
        if (i % 10 == 0) {  // other limits meanwhile
            (void)detail::Reloads::of_process().change(
                {{"unix-listen://" + path, address + std::to_string(3 + i % 8)}}, [] {});
        }
    }
    for (std::thread& thread : threads) thread.join();
    input->take_last();
    while (read(0)) {
    }
    EXPECT_EQ(input->bytes_waiting(), 0U);
    std::map<std::string, int> counts;
    for (std::size_t begin = 0; begin != text.size();) {
        const std::size_t end = text.find('\n', begin);
        ++counts[text.substr(begin, end - begin)];
        begin = end + 1;
    }
    EXPECT_EQ(counts.size(), std::size_t{clients} * lines);
    EXPECT_TRUE(
        std::all_of(counts.begin(), counts.end(), [](auto& one) { return one.second == 1; }));
}

TEST_F(UnixSockets, AnInputEndsWhileClientsSend) {
    for (int i = 0; i != 20; ++i) {
        auto input = open_transport_input("unix-listen://" + path + "?clients=4");
        std::atomic<bool> is_over{false};
        std::vector<std::thread> threads;
        for (int client = 0; client != 8; ++client) {
            threads.emplace_back([&] {
                while (!is_over) {
                    const int peer = connect();
                    if (peer < 0) continue;
                    send(peer, "a\nb\nc\nbegun");
                    ::close(peer);
                }
            });
        }
        std::vector<char> buffer(100);
        for (int j = 0; j != 20; ++j) (void)input->read(buffer, 1);
        if (i % 2 == 0) input->take_last();
        input.reset();
        is_over = true;
        for (std::thread& thread : threads) thread.join();
    }
}

TEST_F(UnixSockets, ReadersComeAndGoWhileRowsAreWritten) {
    for (const std::string slow : {"wait", "drop", "close"}) {
        const auto output = make_row_output(
            "unix-listen://" + path + "?waiting=64K&await=1&slow=" + slow, Writing::live);
        output->open("number\n");
        std::atomic<bool> is_over{false};
        std::atomic<int> faults{0};
        std::vector<std::thread> threads;
        for (int reader = 0; reader != 6; ++reader) {
            threads.emplace_back([&, reader] {
                while (!is_over) {
                    const int peer = connect();
                    if (peer < 0) continue;
                    std::string text;
                    std::vector<char> buffer(5'000);
                    for (int i = 0; reader == 0 || i != 5; ++i) {
                        const auto got = ::recv(peer, buffer.data(), buffer.size(), 0);
                        if (got <= 0) break;
                        text.append(buffer.data(), static_cast<std::size_t>(got));
                    }
                    if (!text.empty() && !text.starts_with("number\n")) ++faults;
                    ::close(peer);
                }
            });
        }
        for (int i = 0; i != 3'000; ++i) output->append(std::string(300, '7') + "\n");
        output->close();
        is_over = true;
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(faults, 0);
    }
}

}  // namespace
}  // namespace strid
