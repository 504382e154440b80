// SPDX-License-Identifier: Apache-2.0
//
// Contestants that answer the same question, run by turns: the table gives medians and the median
// of the round-by-round ratios, and every answer is compared with the expected one. No threads
// but those of the contestants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>

#include "../statistics.hpp"
#include "quotes.hpp"

namespace strid::bench {

/// One pass of a contestant, and what it answered.
struct Measured {
    double ns_per_record = 0;
    WindowChecksum checksum = {};
};

template <class Body>
Measured timed(std::uint64_t records, Body&& body) {
    Measured measured;
    const std::int64_t begin_ns = now_ns();
    body(measured.checksum);
    measured.ns_per_record =
        static_cast<double>(now_ns() - begin_ns) / static_cast<double>(records);
    return measured;
}

/// Adds up the results of windows over quotes.
struct ChecksumSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    WindowChecksum* result;  // of the caller, which reads it after the run
    WindowChecksum checksum{};

    template <class Result>
    void operator()(const Result& result_row) noexcept {
        if constexpr (requires { result_row.window.start.ns(); }) {
            checksum.add(result_row.key, static_cast<std::uint64_t>(result_row.window.start.ns()),
                         result_row.value);
        } else {
            checksum.add(result_row.key, result_row.window.start, result_row.value);
        }
    }
    void on(Closed) noexcept { *result = checksum; }
    auto state() { return std::tie(checksum); }
};

struct Contestant {
    std::string name;
    std::function<Measured()> measure;
    WindowChecksum expected;
    std::vector<double> ns = {};  // a record, of each round
};

/// How many times faster one is than another, the median over the rounds. O(rounds).
[[nodiscard]] inline double times_faster(const Contestant& one, const Contestant& other) {
    return median(ratios(other.ns, one.ns));
}

class Contest {
  public:
    explicit Contest(int rounds) noexcept : rounds_(rounds) {}

    /// Runs the contestants in turn and prints a row for each, with how many times faster it is
    /// than the first. Returns them with what they took.
    std::vector<Contestant> compare(const char* title, std::vector<Contestant> contestants) {
        for (int round = 0; round < rounds_; ++round) {
            for (Contestant& one : contestants) {
                const Measured measured = one.measure();
                one.ns.push_back(measured.ns_per_record);
                if (measured.checksum == one.expected && one.expected.windows != 0) continue;
                std::printf("WRONG ANSWER: %s, %s\n", title, one.name.c_str());
                all_right_ = false;
            }
        }
        std::printf("\n%s\n", title);
        for (const Contestant& one : contestants) print(one, contestants.front());
        std::fflush(stdout);
        return contestants;
    }

    [[nodiscard]] bool all_right() const noexcept { return all_right_; }

  private:
    static void print(const Contestant& one, const Contestant& first) {
        const std::vector<double> faster = ratios(first.ns, one.ns);
        const auto [low, high] = std::minmax_element(faster.begin(), faster.end());
        std::printf("| %-32s | %8.1f ns | %7.1f M/s | %6.2f (%.2f to %.2f) |\n", one.name.c_str(),
                    median(one.ns), 1e3 / median(one.ns), times_faster(one, first), *low, *high);
    }

    int rounds_;
    bool all_right_ = true;
};

}  // namespace strid::bench
