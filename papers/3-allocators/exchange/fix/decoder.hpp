// SPDX-License-Identifier: Apache-2.0
//
// From bytes of a stream to FIX messages, in two steps that may be done by different threads: a
// FrameCutter finds where messages begin and end (BeginString, BodyLength, the place of CheckSum),
// parse() checks the sum and reads the fields. A Decoder does both.
//
// Garbled input (FIX 4.4, volume 2) is skipped: the bytes up to the next BeginString are dropped
// and the reason is reported. That a sequence number is missing then, the session finds out. A
// message that is whole but has a field that is wrong is no garbled one: it is given with its
// fault, for a Reject.
//
// One thread at a time each. Bytes kept: one message at most, and what was fed beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fix/message.hpp"

namespace strid::exchange::fix {

/// The result of a call of the decoder.
enum class [[nodiscard]] Decoded : std::uint8_t {
    more,     ///< no whole message is there yet: feed more
    message,  ///< one is
    garbled   ///< bytes were dropped; garbled() says why. Look again.
};

/// Why bytes were dropped.
struct Garbled {
    enum class Kind : std::uint8_t { begin_string, body_length, too_long, check_sum, msg_type };
    Kind kind = Kind::begin_string;
    std::string text = {};    ///< for the log, with the offset in the stream
    std::uint64_t bytes = 0;  ///< that were dropped
};

/// A field that is wrong in a message that is whole.
struct FieldFault {
    int tag = 0;     ///< 0 where it has none
    int reason = 0;  ///< SessionRejectReason (373)
    std::string text = {};
};

/// Of what clients send.
inline constexpr std::size_t body_bytes_max = std::size_t{64} << 10;
/// Between programs that trust each other: a client's message with more fields, or a book.
inline constexpr std::size_t link_body_bytes_max = std::size_t{1} << 20;

class FrameCutter {
  public:
    /// A longer body is garbled, so that the memory of a stream has a bound.
    explicit FrameCutter(std::size_t bytes_max = body_bytes_max) : body_bytes_max_(bytes_max) {}

    void feed(std::string_view bytes);
    /// On `message`, `frame` is the whole of it until the next call of feed() or next(). A length
    /// that is wrong is reported as soon as a CheckSum stands where none may, not when all the
    /// bytes that it announced are there. O(bytes fed), all calls together.
    Decoded next(std::string_view& frame);
    /// Of the last `garbled`.
    [[nodiscard]] const Garbled& garbled() const noexcept { return garbled_; }
    /// Bytes of a message that is not whole.
    [[nodiscard]] std::size_t pending_bytes() const noexcept { return buffer_.size() - begin_; }
    /// Where in the stream the next message begins.
    [[nodiscard]] std::uint64_t offset() const noexcept { return dropped_ + begin_; }

  private:
    struct Head {
        std::size_t bytes;  // up to the body
        std::size_t body;
    };
    [[nodiscard]] std::string_view rest() const noexcept {
        return std::string_view(buffer_).substr(begin_);
    }
    std::optional<Head> read_head(std::string_view text, Decoded& outcome);
    Decoded search_early_end(std::string_view text, const Head& head);
    Decoded skip(Garbled::Kind kind, std::string_view why);
    void compact();

    std::size_t body_bytes_max_;
    std::string buffer_;
    std::size_t begin_ = 0;     // of what was not given yet
    std::size_t searched_ = 0;  // of the rest, for an early end
    std::uint64_t dropped_ = 0;
    Garbled garbled_;
};

/// The message of a frame that a FrameCutter gave. On `garbled` (the sum is wrong, or MsgType is
/// not the first field of the body) `message` is empty and `garbled` is set; on `message` `fault`
/// is the first field that is wrong and was left out, if any. Never `more`.
Decoded parse(std::string_view frame, Message& message, std::optional<FieldFault>& fault,
              Garbled& garbled);

class Decoder {
  public:
    explicit Decoder(std::size_t bytes_max = body_bytes_max) : cutter_(bytes_max) {}

    void feed(std::string_view bytes) { cutter_.feed(bytes); }
    /// On `message`, `message` is one; fault() reports a field in it that is wrong.
    Decoded next(Message& message);
    [[nodiscard]] const Garbled& garbled() const noexcept { return garbled_; }
    /// Of the last message.
    [[nodiscard]] const std::optional<FieldFault>& fault() const noexcept { return fault_; }
    [[nodiscard]] std::size_t pending_bytes() const noexcept { return cutter_.pending_bytes(); }

  private:
    FrameCutter cutter_;
    Garbled garbled_;
    std::optional<FieldFault> fault_;
};

}  // namespace strid::exchange::fix
