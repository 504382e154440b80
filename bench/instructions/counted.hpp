// SPDX-License-Identifier: Apache-2.0
//
// The common part of the programs of counted runs: the answer that runs are compared by, and the
// command line that count.py calls:
//
//   PROGRAM RUN RECORDS            what the engine answers
//   PROGRAM --by-hand RUN RECORDS  what it should
//   PROGRAM                        the runs, each with how many records are enough
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include <strid/stream/graph.hpp>

namespace strid::bench {

/// The sum that runs are compared by; no order changes it.
struct Answer {
    std::uint64_t results = 0;
    std::uint64_t sum = 0;

    void add(std::uint64_t result) noexcept {
        ++results;
        sum += result;
    }
};

/// Adds up what `number_of` makes of each result.
template <class NumberOf>
struct AnswerSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    Answer* answer;  // of the caller, which reads it after the run
    NumberOf number_of;
    Answer so_far{};

    template <class Result>
    void operator()(const Result& result) noexcept {
        so_far.add(number_of(result));
    }
    void on(Closed) noexcept { *answer = so_far; }
    auto state() { return std::tie(so_far); }
};

inline void run_on_one_worker(const Graph& graph) {
    RunOptions options;
    options.workers = 1;
    options.parallelism = 1;
    run(graph, options);
}

struct Run {
    std::string_view name;
    std::uint64_t records;  // a poll learns its length by the clock: cheap records need many
    Answer (*on_engine)(std::uint64_t records);
    Answer (*by_hand)(std::uint64_t records);
};
/// The main() of such a program.
int counted_main(int argc, char** argv, std::span<const Run> runs);

}  // namespace strid::bench
