// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/redis/redis.hpp>

#include "input.hpp"
#include "output.hpp"

namespace strid {

namespace {

[[noreturn]] void refuse_tls(const TransportAddress& address) {
    address.refuse("TLS is not served: redis:// to a proxy that has it, as stunnel");
}

}  // namespace

void use_redis() {
    add_transport({.scheme = "redis",
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<redis::StreamInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<redis::StreamOutput>(std::move(address));
                       }});
    add_transport(
        {.scheme = "rediss",
         .input = [](const TransportAddress& address) -> std::unique_ptr<TransportInput> {
             refuse_tls(address);
         },
         .output = [](const TransportAddress& address) -> std::unique_ptr<TransportOutput> {
             refuse_tls(address);
         }});
}

}  // namespace strid
