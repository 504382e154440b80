// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/nats/nats.hpp>

#include "input.hpp"
#include "output.hpp"

namespace strid {

void use_nats() {
    add_transport({.scheme = "nats",
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<nats::StreamInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<nats::StreamOutput>(std::move(address));
                       }});
}

}  // namespace strid
