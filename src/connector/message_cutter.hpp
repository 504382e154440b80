// SPDX-License-Identifier: Apache-2.0
//
// Cuts the bytes of a connection into messages that are whole: lines, or payloads that each have
// their length in front, four bytes, the highest first. A payload becomes a line; one of several
// lines keeps them, as with brokers, and one without bytes is nothing. Private to the connector
// room. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid::detail {

enum class Framing : std::uint8_t { lines, length32 };

class MessageCutter {
  public:
    /// A message has `bytes_max` bytes at most.
    MessageCutter(Framing framing, std::size_t bytes_max)
        : framing_(framing), bytes_max_(bytes_max) {}

    /// Adds what came, and appends the messages that are whole to `whole`. False: one is too long,
    /// and nothing that follows is of use; those before it were appended.
    [[nodiscard]] bool add(std::string_view piece, std::string& whole);
    /// Whether a message has begun that is not whole.
    [[nodiscard]] bool has_begun() const noexcept { return !begun_.empty(); }

  private:
    [[nodiscard]] bool add_lines(std::string_view piece, std::string& whole);
    [[nodiscard]] bool add_payloads(std::string_view piece, std::string& whole);

    Framing framing_;
    std::size_t bytes_max_;
    std::string begun_;
};

}  // namespace strid::detail
