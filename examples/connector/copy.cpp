// SPDX-License-Identifier: Apache-2.0
//
// Copies readings from one place to another; both may be files, addresses of Strid's transports
// that the program is linked with, or spools.
//
//     spool_copy --from readings.csv --to spool:readings --snapshots state
#include <cstdint>
#include <string>

#include <strid/strid.hpp>

#include "spool.hpp"

struct Reading {
    std::int64_t number;
    std::int64_t value;
};

int main(int argc, char** argv) {
    std::string from;
    std::string to;
    strid::Arguments arguments{"spool_copy", "Copies readings."};
    arguments.option("--from", from, "The place to read").option("--to", to, "The place to write");
    return strid::run(arguments, argc, argv, [&] {
        strid::Graph graph{"copy"};
        graph.source(strid::csv_file<Reading>(from), {.name = "read"})
            .sink(strid::csv_writer<Reading>(to), {.name = "write"});
        return graph;
    });
}
