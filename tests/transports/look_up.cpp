// SPDX-License-Identifier: Apache-2.0
//
// Looks up in a table of a database, which is read again every 20 ms, or asked for each key whose
// answer is older than that:
//
//     look_up ADDRESS [asked]
//
// Reads numbers from standard input, a line each, and prints the name that the table has for each,
// or a dash; where the server cannot be asked: "lost". Each failure that is reported is a line on
// standard error.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include <strid/connector/cached_table.hpp>
#include <strid/connector/table_file.hpp>
#include <strid/postgres/postgres.hpp>
#include <strid/sqlite/sqlite.hpp>

namespace {

using namespace std::chrono_literals;

struct Product {
    std::int64_t number;
    std::string name;
};

/// `name_of(number)` gives a pointer to the name, or null.
template <class NameOf>
void answer(const NameOf& name_of) {
    for (std::int64_t number = 0; std::cin >> number;) {
        try {
            const auto name = name_of(number);
            std::cout << (name == nullptr ? "-" : *name) << std::endl;
        } catch (const strid::ConnectionLost&) {
            std::cout << "lost" << std::endl;
        }
    }
}

void look_up(const std::string& address) {
    const auto products = strid::lookup_file<&Product::number, &Product::name>(
        address, {.csv = {.columns = {"number", "name"}},
                  .check_every = 20ms,
                  .report = [](const std::string& failure) { std::cerr << failure << std::endl; }});
    answer([&](std::int64_t number) {
        const auto table = products.table();
        return std::shared_ptr<const std::string>(table, table->find(number));
    });
}

void ask(const std::string& address) {
    const auto products = strid::cached_table<&Product::number>(
        address, {.columns = {"number", "name"}, .keep_for = 20ms});
    answer([&](std::int64_t number) {
        const auto product = products.find(number);
        return std::shared_ptr<const std::string>(product, product ? &product->name : nullptr);
    });
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string address = argc > 1 ? argv[1] : "";
        argc > 2 ? ask(address) : look_up(address);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
