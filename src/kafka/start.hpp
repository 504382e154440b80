// SPDX-License-Identifier: Apache-2.0
//
// Where the reading of a partition begins: `start` of an address. Plain values; any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <strid/connector/transport.hpp>

#include "topic.hpp"

namespace strid::kafka {

/// Reads all of the text; false: it is no such number.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

struct Edges {
    std::int64_t first = 0;   ///< The offset of the first message of a partition.
    std::int64_t behind = 0;  ///< The one behind the last.
};
/// Throws ConnectionLost and InputOutputError.
[[nodiscard]] Edges edges_of(::rd_kafka_t* client, const Topic& topic, std::int32_t partition,
                             int wait_ms = broker_wait_ms);

class Start {
  public:
    /// Takes the option. Throws GraphError.
    explicit Start(TransportAddress& address);
    /// Of the first message of a partition to read. Throws as edges_of().
    [[nodiscard]] std::int64_t offset(::rd_kafka_t* client, const Topic& topic,
                                      std::int32_t partition, const Edges& edges) const;

  private:
    enum class Kind : std::uint8_t { earliest, latest, time };
    Kind kind_ = Kind::earliest;
    std::int64_t ms_ = 0;  // of a time
};

}  // namespace strid::kafka
