// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/kafka/kafka.hpp>

#include "input.hpp"
#include "output.hpp"

namespace strid {

void use_kafka() {
    add_transport({.scheme = "kafka",
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<kafka::TopicInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<kafka::TopicOutput>(std::move(address));
                       }});
}

}  // namespace strid
