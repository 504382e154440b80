// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/sqlite/sqlite.hpp>

#include "input.hpp"
#include "keyed_rows.hpp"
#include "output.hpp"

namespace strid {

void use_sqlite() {
    add_transport({.scheme = "sqlite",
                   .is_table = true,
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<sqlite::QueryInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<sqlite::InsertOutput>(std::move(address));
                       },
                   .table =
                       [](TransportAddress address, const TableQuery& asked) {
                           return std::make_unique<sqlite::KeyedRows>(std::move(address), asked);
                       }});
}

}  // namespace strid
