// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/parquet/parquet.hpp>

#include "input.hpp"
#include "output.hpp"

namespace strid {

void use_parquet() {
    add_transport({.scheme = "parquet",
                   .is_table = true,
                   .options_may_change = true,
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<parquet::FileInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<parquet::FolderOutput>(std::move(address));
                       }});
}

}  // namespace strid
