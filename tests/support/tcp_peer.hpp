// SPDX-License-Identifier: Apache-2.0
//
// For tests of servers: a client that sends some bytes and reads the answer to its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace strid::test {

inline ::sockaddr_in loopback(std::uint16_t port) {
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// The answer of a server of this machine; empty where none listens.
inline std::string answer_to(std::uint16_t port, const std::string& text) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const ::sockaddr_in address = loopback(port);
    std::string answer;
    if (::connect(socket, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) == 0) {
        EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
        std::array<char, 4096> piece{};
        for (;;) {
            const ssize_t bytes = ::recv(socket, piece.data(), piece.size(), 0);
            if (bytes <= 0) break;
            answer.append(piece.data(), static_cast<std::size_t>(bytes));
        }
    }
    ::close(socket);
    return answer;
}

}  // namespace strid::test
