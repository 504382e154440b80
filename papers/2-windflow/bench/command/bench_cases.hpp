// SPDX-License-Identifier: Apache-2.0
//
// The cases of `strid bench`: applications, each beside a hand-written program that gives the same
// answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/hand/replay.hpp"

namespace strid::tool {

/// The result of one pass over an input: the number of results, and the sum of their last column.
struct BenchAnswer {
    std::uint64_t results = 0;
    double sum = 0;
};

/// One application with options, and the hand-written program that does the same.
struct BenchCase {
    std::string title;
    std::string application;
    std::string input;                 // below the folder of the applications
    std::vector<std::string> options;  // of the application; {} stands for that folder
    /// Runs the hand-written program; with a duration of 0 one pass, of which it gives the answer.
    std::function<bench::hand::ReplayResult(const std::string& input, const std::string& folder,
                                            std::chrono::nanoseconds duration, BenchAnswer& answer)>
        by_hand;
    /// Writes an input of about so many lines, where their order counts; else lines of the input
    /// are drawn at random. With 0 it has as many as the one in the folder.
    std::function<void(const std::string& path, std::size_t lines)> make = {};
    double by_hand_least = 0.8;      // bar: one worker over the program by hand
    double two_workers_least = 1.6;  // bar: two workers over one
};

/// The cases in the order in which they are measured.
[[nodiscard]] std::vector<BenchCase> bench_cases();

}  // namespace strid::tool
