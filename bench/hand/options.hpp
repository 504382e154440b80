// SPDX-License-Identifier: Apache-2.0
//
// The command line that the hand-written applications share:
//     INPUT [--model FILE] [--campaigns FILE] [--roads FILE] [--duration SECONDS]
//     [--once [--output FILE]] [--updates]
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strid::bench::hand {

struct Options {
    std::string input;
    std::string model;
    std::string campaigns;
    std::string roads;
    std::string output;  // empty: standard output
    std::chrono::nanoseconds duration = std::chrono::seconds(3);
    bool once = false;
    bool updates = false;
};

inline Options parse_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto value = [&]() -> std::string {
            if (++i >= argc) throw std::runtime_error(std::string(argument) + " needs a value");
            return argv[i];
        };
        if (argument == "--model") {
            options.model = value();
        } else if (argument == "--campaigns") {
            options.campaigns = value();
        } else if (argument == "--roads") {
            options.roads = value();
        } else if (argument == "--output") {
            options.output = value();
        } else if (argument == "--duration") {
            options.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double>(std::stod(value())));
        } else if (argument == "--once") {
            options.once = true;
        } else if (argument == "--updates") {
            options.updates = true;
        } else if (options.input.empty() && argument.substr(0, 1) != "-") {
            options.input = argument;
        } else {
            throw std::runtime_error("unknown argument " + std::string(argument));
        }
    }
    if (options.input.empty()) throw std::runtime_error("name an input file");
    return options;
}

/// Calls write(stream) on the output file or standard output; throws when not all of it could be
/// written.
template <class Write>
void write_output(const std::string& path, Write write) {
    std::ofstream file;
    if (!path.empty()) file.open(path, std::ios::binary);
    std::ostream& stream = path.empty() ? std::cout : file;
    write(stream);
    stream.flush();
    if (!stream)
        throw std::runtime_error("cannot write " + (path.empty() ? "standard output" : path));
}

/// main() of a hand-written application: run(options), errors to standard error and 1.
template <class Run>
int run_main(int argc, char** argv, Run run) {
    try {
        run(parse_options(argc, argv));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

}  // namespace strid::bench::hand
