// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/postgres/postgres.hpp>

#include "input.hpp"
#include "output.hpp"

namespace strid {

void use_postgres() {
    for (const char* const scheme : {"postgres", "postgresql"}) {
        add_transport({.scheme = scheme,
                       .is_table = true,
                       .input =
                           [](TransportAddress address) {
                               return std::make_unique<postgres::QueryInput>(std::move(address));
                           },
                       .output =
                           [](TransportAddress address) {
                               return std::make_unique<postgres::CopyOutput>(std::move(address));
                           }});
    }
}

}  // namespace strid
