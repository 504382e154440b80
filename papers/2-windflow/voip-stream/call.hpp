// SPDX-License-Identifier: Apache-2.0
//
// The records of voip-stream, and what numbers are hashed and cut into shards by (README.md).
// Plain values; functions of any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace strid::apps::voip_stream {

/// A telephone number: its digits behind a 1, as a number, so that leading zeros count.
struct Number {
    std::uint64_t code;

    bool operator==(const Number&) const = default;
};
/// False: not 1 to 15 digits.
[[nodiscard]] bool from_csv(std::string_view text, Number& number) noexcept;
void to_csv(std::string& out, const Number& number);

/// Seconds since 1970, in UTC.
struct Second {
    std::uint32_t since_1970;
};
/// As StartReader (call_text.hpp) has it. False: not a time of 1970 to 2105.
[[nodiscard]] bool from_csv(std::string_view text, Second& second) noexcept;
/// `2026-03-02T08:15:30Z`.
void to_csv(std::string& out, const Second& second);

/// A call as it is read or made.
struct Call {
    Number calling;
    Number called;
    std::uint32_t start;
    std::uint32_t duration;  ///< seconds, below 2^31
    bool established;
};

/// A number as everything behind the parser has it: its hash, which is one-to-one (README.md: h).
using Key = std::uint64_t;

/// An established call with what the calls before it say.
struct TimedCall {
    Key calling;
    Key called;
    std::uint32_t start;
    std::uint32_t duration;
    std::uint32_t now;  ///< the latest start so far
};

/// The features of a caller at a call; rates as decayed counts.
struct CallFeatures {
    Key calling;
    Key called;
    double mean;  ///< duration of all calls, in seconds
    double rcr;
    double ct24;
    double ecr24;
    double ecr;
    double encr;
    std::uint32_t start;
};

/// A row of the answer.
struct CallScore {
    Number calling;
    Number called;
    Second start;
    double fofir;
    double url;
    double acd;
    double score;
};
static_assert(std::is_trivially_copyable_v<CallFeatures> &&
              std::is_trivially_copyable_v<CallScore>);

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 33);
}
[[nodiscard]] constexpr Key key_of(Number number) noexcept {
    return mix(number.code);
}
/// The inverse: both factors are undone by theirs of the integers modulo 2^64.
[[nodiscard]] constexpr Number number_of(Key key) noexcept {
    std::uint64_t x = (key ^ (key >> 33)) * 0x9cb4b2f8129337db;
    x = (x ^ (x >> 33)) * 0x4f74430c22a54005;
    return {x ^ (x >> 33)};
}
static_assert(number_of(key_of(Number{139'123'456'789})).code == 139'123'456'789);

[[nodiscard]] constexpr std::uint64_t hash_of_pair(Key caller, Key callee) noexcept {
    return mix(caller ^ callee * 0x9e3779b97f4a7c15);
}

inline constexpr std::size_t shards = 64;
[[nodiscard]] constexpr std::uint32_t shard_of(Key key) noexcept {
    return static_cast<std::uint32_t>(key % shards);
}

/// A call as the shard of one of its numbers sees it, in the compact graph.
struct Side {
    Key number;  ///< of the shard
    Key other;
    double mean;
    std::uint32_t start;
    std::uint32_t duration;
    std::uint32_t now;
    bool calls;  ///< `number` calls `other`; otherwise it is called
};
struct ShardOfNumber {
    std::uint32_t operator()(const Side& side) const noexcept { return shard_of(side.number); }
};
/// A record with a caller goes to the shard of the caller.
struct ShardOfCaller {
    template <class Record>
    std::uint32_t operator()(const Record& record) const noexcept {
        return shard_of(record.calling);
    }
};

}  // namespace strid::apps::voip_stream
