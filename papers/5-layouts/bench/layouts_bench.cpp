// SPDX-License-Identifier: Apache-2.0
//
// The tables of paper 5, one for each call: lines of JSON (tables.hpp). layouts.py runs it for all
// of them and prints them beside the paper's.
//
//   layouts_bench --table machine|access|classes|pointers|trees|hash-sets|min-max|changing|hot
//                 [--size whole|quick] [--repeat N]
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "bench/command_line.hpp"
#include "tables.hpp"

namespace {

using namespace strid::bench;

void print_machine(const TableOptions& options) {
    const Machine& machine = options.machine;
    fmt::print(
        "{{\"first_cache_bytes\": {}, \"last_cache_bytes\": {}, \"line_bytes\": {}, "
        "\"memory_bytes\": {}}}\n",
        machine.first_cache_bytes, machine.last_cache_bytes, machine.line_bytes,
        machine.memory_bytes);
}

const std::map<std::string, std::function<void(const TableOptions&)>> tables{
    {"machine", print_machine},    {"access", access_patterns},  {"classes", class_layouts},
    {"pointers", object_pointers}, {"trees", tree_layouts},      {"hash-sets", hash_sets},
    {"min-max", minimum_maximum},  {"changing", changing_trees}, {"hot", hot_members},
};

}  // namespace

int main(int argc, char** argv) try {
    std::string table;
    std::string size = "whole";
    TableOptions options;
    CommandLine({{"--table", text_into(table)},
                 {"--size", text_into(size)},
                 {"--repeat", number_into(options.repeat)}})
        .read(argc, argv);
    const auto chosen = tables.find(table);
    if (chosen == tables.end()) {
        throw std::invalid_argument(fmt::format("there is no table '{}'", table));
    }
    if (size != "whole" && size != "quick") {
        throw std::invalid_argument("sizes are whole and quick, not " + size);
    }
    if (options.repeat == 0) throw std::invalid_argument("repetitions are at least one");
    options.quick = size == "quick";
    options.machine = read_machine();
    chosen->second(options);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "strid: error: {}\n", error.what());
    return 1;
}
