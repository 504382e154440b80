// SPDX-License-Identifier: Apache-2.0
//
// A stranger's first program, as the build system sees it: it includes the whole library
// and links its compiled part, with what that stands on (a file may be compressed, so both
// decompressors are in).
#include <cstdint>
#include <iostream>

#include <strid/strid.hpp>

struct Number {
    std::uint64_t value;
};

int main(int, char** argv) {
    std::cout << "strid says:";
    strid::Graph graph{"consumer"};
    graph.source(strid::csv_file<Number>(argv[1]))
        .map([](Number& number) { number.value *= 2; })
        .sink([](const Number& number) { std::cout << ' ' << number.value; });
    const auto report = strid::run(graph);
    std::cout << " (" << report.records_out() << " records)\n";
}
