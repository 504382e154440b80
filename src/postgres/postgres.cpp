// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/postgres/postgres.hpp>

#include "changes_input.hpp"
#include "input.hpp"
#include "keyed_rows.hpp"
#include "output.hpp"

namespace strid {

namespace {

std::unique_ptr<TransportInput> input_of(TransportAddress address) {
    const auto& options = address.left();
    const bool has_changes = std::any_of(options.begin(), options.end(),
                                         [](const auto& one) { return one.first == "changes"; });
    if (has_changes) return std::make_unique<postgres::ChangesInput>(std::move(address));
    return std::make_unique<postgres::QueryInput>(std::move(address));
}

}  // namespace

void use_postgres() {
    for (const char* const scheme : {"postgres", "postgresql"}) {
        add_transport(
            {.scheme = scheme,
             .is_table = true,
             .input = [](TransportAddress address) { return input_of(std::move(address)); },
             .output =
                 [](TransportAddress address) {
                     return std::make_unique<postgres::CopyOutput>(std::move(address));
                 },
             .table =
                 [](TransportAddress address, TableQuery asked) {
                     return std::make_unique<postgres::KeyedRows>(std::move(address),
                                                                  std::move(asked));
                 }});
    }
}

}  // namespace strid
