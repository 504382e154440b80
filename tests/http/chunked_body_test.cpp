// SPDX-License-Identifier: Apache-2.0
//
// Bodies in chunks: what RFC 9112 allows and forbids is written down here, and the pieces in which
// a body comes make no difference.
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/http/chunked_body.hpp>

#include "../support/seeds.hpp"

namespace strid::http {
namespace {

using State = ChunkedBody::State;

struct Read {
    std::string data = {};
    std::string left = {};  // behind the end
    State state = State::goes_on;

    bool operator==(const Read&) const = default;
};

/// Reads pieces, one behind the other.
Read read(const std::vector<std::string_view>& pieces) {
    ChunkedBody body;
    Read found;
    for (std::string_view piece : pieces) {
        while (!piece.empty() && body.state() == State::goes_on) found.data += body.take(piece);
        if (body.state() != State::malformed) found.left += piece;
    }
    found.state = body.state();
    return found;
}

const std::string whole =
    "5\r\nabcde\r\n00A;name=\"a b\"\r\n\r\n3\r\nxyz\r\n\r\n1 \r\nZ\r\n0\r\nA: b\r\nC: d\r\n\r\nGET";
const Read wanted{.data = "abcde\r\n3\r\nxyz\r\nZ", .left = "GET", .state = State::ended};

TEST(ChunkedBody, IsReadUpToItsEnd) {
    EXPECT_EQ(read({whole}), wanted);
    EXPECT_EQ(read({"0\r\n\r\n"}), (Read{.state = State::ended}));
}

TEST(ChunkedBody, AllCutsGiveTheSame) {
    const std::string_view text = whole;
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            EXPECT_EQ(read({text.substr(0, first), text.substr(first, second - first),
                            text.substr(second)}),
                      wanted)
                << first << ' ' << second;
        }
    }
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i != text.size(); ++i) bytes.push_back(text.substr(i, 1));
    EXPECT_EQ(read(bytes), wanted);
}

TEST(ChunkedBody, WithoutItsEndItGoesOn) {
    const std::string_view text = whole;
    for (std::size_t bytes = 0; bytes + 3 < text.size(); ++bytes) {
        EXPECT_EQ(read({text.substr(0, bytes)}).state, State::goes_on) << bytes;
    }
}

TEST(ChunkedBody, WhatIsNoChunkIsRefused) {
    const std::vector<std::string> bodies{
        "\r\n",
        "x\r\n",
        " 5\r\nabcde\r\n",
        "-1\r\n",
        "+1\r\na\r\n",
        "0x1\r\na\r\n",
        "1\na\n",
        "1\r\rb",
        "1\r\nab\r\n",
        "1\r\na\n0\r\n\r\n",
        "1\r\na\r\r",
        "2\r\na\r\n0\r\n\r\n",
        "1;a\nb\r\na\r\n",
        "10000000000000000\r\n",
        "fffffffffffffffff\r\n",
        "1;" + std::string(ChunkedBody::size_line_bytes_max, 'a') + "\r\n",
        std::string(ChunkedBody::size_line_bytes_max + 1, '0'),
        "0\r\nA: b\n\r\n",
        "0\r\nA\x01: b\r\n\r\n",
        "0\r\n" + std::string(ChunkedBody::trailer_bytes_max + 1, 'a'),
        "0\r\n\rx",
    };
    for (const std::string& body : bodies) {
        EXPECT_EQ(read({body}).state, State::malformed) << body;
    }
    EXPECT_EQ(read({"ffffffffffffffff\r\na"}).state, State::goes_on);
}

TEST(ChunkedBody, RandomBodiesInRandomPiecesAreReadAsTheyWereWritten) {
    std::mt19937_64 random(test::first_seed());
    for (int round = 0; round != 500; ++round) {
        std::string text;
        Read expected{.state = State::ended};
        const std::size_t chunks = random() % 8;
        for (std::size_t i = 0; i != chunks; ++i) {
            std::string data(1 + random() % 40, ' ');
            for (char& c : data) c = static_cast<char>(random());
            static constexpr std::string_view digits = "0123456789abcdef";
            (text += digits[data.size() / 16]) += digits[data.size() % 16];
            text += "\r\n" + data + "\r\n";
            expected.data += data;
        }
        text += "0\r\n\r\n";
        std::vector<std::string_view> pieces;
        for (std::string_view left = text; !left.empty();) {
            const std::size_t bytes = std::min(left.size(), 1 + random() % 20);
            pieces.push_back(left.substr(0, bytes));
            left.remove_prefix(bytes);
        }
        EXPECT_EQ(read(pieces), expected) << text;
    }
}

}  // namespace
}  // namespace strid::http
