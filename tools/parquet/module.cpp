// SPDX-License-Identifier: Apache-2.0
//
// The module strid-parquet.so, which the command line loads (tools/common/parquet.hpp). It has a
// copy of the library of its own, and shares no state with the program.
#include <strid/connector/transport.hpp>
#include <strid/parquet/parquet.hpp>

/// Sets the functions of the transport.
extern "C" [[gnu::visibility("default")]] void strid_parquet_transport(strid::Transport& transport);

void strid_parquet_transport(strid::Transport& transport) {
    transport = {.scheme = "parquet",
                 .input =
                     [](strid::TransportAddress address) {
                         return strid::open_transport_input(address.text());
                     },
                 .output =
                     [](strid::TransportAddress address) {
                         return strid::make_transport_output(address.text());
                     }};
}
