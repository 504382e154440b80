// SPDX-License-Identifier: Apache-2.0
//
// Graphs with calls of slow functions, and functions that are slow or throw, for the tests of
// `call` (operator/call.hpp). The right answer to a number is answer_to(number).
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <strid/strid.hpp>

#include "../test_sources.hpp"
#include "../windows.hpp"

namespace strid::test {

using Numbers64 = std::vector<std::uint64_t>;

inline Numbers64 numbers(std::uint64_t count) {
    Numbers64 all(count);
    for (std::uint64_t n = 0; n != count; ++n) all[n] = n;
    return all;
}
inline std::uint64_t answer_to(std::uint64_t n) {
    return n * n + 1;
}
inline Numbers64 answers(std::uint64_t end, std::uint64_t first = 0) {
    Numbers64 all;
    for (std::uint64_t n = first; n != end; ++n) all.push_back(answer_to(n));
    return all;
}

/// How many calls run, and the most that ran at the same time.
struct Gauge {
    std::atomic<std::size_t> now{0};
    std::atomic<std::size_t> most{0};
    void enter() {
        const std::size_t running = ++now;
        std::size_t seen = most;
        while (running > seen && !most.compare_exchange_weak(seen, running)) {
        }
    }
    void leave() { --now; }
};

/// Of one type for all tests, so that what calls it is compiled once.
using Slow = std::function<std::uint64_t(const std::uint64_t&)>;
/// Waits as many microseconds as `us_of` says of the number.
Slow slow(std::function<std::uint64_t(std::uint64_t)> us_of,
          std::shared_ptr<Gauge> gauge = std::make_shared<Gauge>());
inline constexpr auto seldom = [](std::uint64_t n) { return n % 61 == 0 ? 300 : 0; };

/// The records behind the calls of `f` itself, in their order.
template <class F>
Numbers64 called_as_it_is(std::uint64_t count, F f, const CallOptions& calls,
                          const RunOptions& options, RunReport* report = nullptr,
                          const OperatorOptions& named = {.name = "ask"}) {
    Graph graph{"calls"};
    Numbers64 out;
    graph.source(from_vector(numbers(count)))
        .call(std::move(f), calls, named)
        .sink([&out](std::uint64_t n) { out.push_back(n); });
    RunReport of_run = run(graph, options);
    if (report != nullptr) *report = std::move(of_run);
    return out;
}

/// Any function that can be called with a number, or with a number and a stop token.
class Called {
  public:
    template <class F>
        requires std::invocable<const F&, const std::uint64_t&>
    Called(F f)  // NOLINT: converts
        : function_([f = std::move(f)](const std::uint64_t& n, const std::stop_token&) {
              return f(n);
          }) {}
    template <class F>
        requires std::invocable<const F&, const std::uint64_t&, const std::stop_token&>
    Called(F f) : function_(std::move(f)) {}  // NOLINT: converts

    std::uint64_t operator()(const std::uint64_t& n, const std::stop_token& stop) const {
        return function_(n, stop);
    }

  private:
    std::function<std::uint64_t(const std::uint64_t&, const std::stop_token&)> function_;
};
/// The same of any function.
Numbers64 called(std::uint64_t count, Called f, const CallOptions& calls, const RunOptions& options,
                 RunReport* report = nullptr, const OperatorOptions& named = {.name = "ask"});
inline OperatorReport of_calls(const RunReport& report) {
    for (const SegmentReport& segment : report.segments) {
        for (const OperatorReport& one : segment.operators) {
            if (one.kind == "call") return one;
        }
    }
    return {};
}

/// Every 50th number throws, in each of its first `times` calls.
struct Throws {
    std::size_t times = SIZE_MAX;
    std::shared_ptr<std::vector<std::atomic<std::size_t>>> calls =
        std::make_shared<std::vector<std::atomic<std::size_t>>>(1000);
    std::uint64_t operator()(const std::uint64_t& n) const {
        const std::size_t call = ++calls->at(n);
        if (n % 50 == 49 && call <= times) throw std::runtime_error("bad " + std::to_string(n));
        return answer_to(n);
    }
};
inline Numbers64 good_answers(std::uint64_t count) {
    Numbers64 all;
    for (std::uint64_t n = 0; n != count; ++n) {
        if (n % 50 != 49) all.push_back(answer_to(n));
    }
    return all;
}

}  // namespace strid::test
