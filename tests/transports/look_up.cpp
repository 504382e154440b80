// SPDX-License-Identifier: Apache-2.0
//
// Looks up in a table of a database, which is read again every 20 ms:
//
//     look_up ADDRESS
//
// Reads numbers from standard input, a line each, and prints the name that the table has for each,
// or a dash. Each failure that is reported is a line on standard error.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <strid/connector/table_file.hpp>
#include <strid/postgres/postgres.hpp>
#include <strid/sqlite/sqlite.hpp>

namespace {

using namespace std::chrono_literals;

struct Product {
    std::int64_t number;
    std::string name;
};

void look_up(const std::string& address) {
    const auto products = strid::lookup_file<&Product::number, &Product::name>(
        address, {.csv = {.columns = {"number", "name"}},
                  .check_every = 20ms,
                  .report = [](const std::string& failure) { std::cerr << failure << std::endl; }});
    for (std::int64_t number = 0; std::cin >> number;) {
        const auto table = products.table();
        const std::string* const name = table->find(number);
        std::cout << (name == nullptr ? "-" : *name) << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        look_up(argc == 2 ? argv[1] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
