// SPDX-License-Identifier: Apache-2.0
//
// Where the reading of a partition begins: `start` of an address. Plain values; any thread.
#pragma once

#include <cstdint>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/address_options.hpp>

#include "topic.hpp"

namespace strid::kafka {

using detail::read_number;

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
