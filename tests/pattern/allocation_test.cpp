// SPDX-License-Identifier: Apache-2.0
//
// After warm-up no pattern allocates for a task: every call of operator new is counted between the
// first and the last of many tasks. A graph for whose task there is no memory stays as it is.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <strid/pattern/accelerator.hpp>
#include <strid/pattern/task_graph.hpp>

#include "../support/allocation_row.hpp"
#include "../support/counting_new.hpp"
#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

constexpr std::uint64_t warm_up = 50'000;
constexpr std::uint64_t counted_tasks = 200'000;
/// One for each thousand would be one for each lane that is filled.
constexpr double most = 0.001;

/// Numbers, with the count of allocations when the first and when the last of them is made.
class Measured {
  public:
    auto numbers() {
        return source([this, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
            if (next == warm_up) begin_ = allocations.load();
            if (next == warm_up + counted_tasks) {
                end_ = allocations.load();
                return std::nullopt;
            }
            return next++;
        });
    }
    void expect_none(const std::string& what) const {
        const double each = static_cast<double>(end_ - begin_) / counted_tasks;
        print_allocations(what, "patterns", each);
        EXPECT_LT(each, most) << what;
    }

  private:
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

template <class Pattern>
void expect_none_in(const std::string& what, const Pattern& pattern) {
    for (const std::size_t workers : {1U, 2U}) {
        Measured measured;
        std::uint64_t sum = 0;
        run(pipeline(measured.numbers(), pattern, [&sum](std::uint64_t n) { sum += n; }),
            Options{.execution = {.workers = workers}});
        measured.expect_none(what + ", " + std::to_string(workers) + " threads");
    }
}

TEST(Allocations, NoneForATaskInAPattern) {
    expect_none_in("a pipeline", square);
    expect_none_in("a farm", farm(square, FarmOptions{.workers = 3}));
    expect_none_in("an ordered farm", ordered_farm(square, FarmOptions{.workers = 3}));
    expect_none_in("an ordered farm of many results",
                   ordered_farm(node<std::uint64_t>([](std::uint64_t n, auto& emit) {
                                    for (std::uint64_t i = 0; i < n % 3; ++i) emit(n);
                                }),
                                FarmOptions{.workers = 3}));
    expect_none_in("a loop", iterate(farm(node<std::uint64_t>([](std::uint64_t n, auto& emit) {
                                              if (n % 8 == 0) return emit(n);
                                              emit.again(n / 8 * 8);
                                          }),
                                          FarmOptions{.workers = 2})));
}

TEST(Allocations, NoneForATaskOfAnAccelerator) {
    auto squares = accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 2}));
    std::uint64_t begin = 0;
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < warm_up + counted_tasks; n += 100) {
        if (n == warm_up) begin = allocations.load();
        for (std::uint64_t i = 0; i < 100; ++i) squares.offload(n + i);
        for (std::uint64_t i = 0; i < 100; ++i) sum += *squares.result();
    }
    const double each = static_cast<double>(allocations.load() - begin) / counted_tasks;
    print_allocations("an accelerator", "patterns", each);
    EXPECT_LT(each, most);
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < warm_up + counted_tasks; ++n) expected += n * n;
    EXPECT_EQ(sum, expected);
}

/// Calls the action until it has memory, with one more request granted each time. The failures.
template <class Action>
std::uint64_t with_failures(const Action& action) {
    for (std::int64_t granted = 0;; ++granted) {
        try {
            granted_before_failure = granted;
            action();
            granted_before_failure = -1;
            return static_cast<std::uint64_t>(granted);
        } catch (const std::bad_alloc&) {
        }
    }
}

TEST(Allocations, TaskWithoutMemoryIsNotAdded) {
    Team team(2);
    TaskGraph graph(team);
    std::array<std::uint64_t, 7> data{};
    std::atomic<bool> go{false};
    graph.task(
        [&go] {
            while (!go) std::this_thread::yield();
        },
        writes(data[0]));
    std::uint64_t failures = 0;
    for (std::size_t i = 1; i <= 300; ++i) {
        std::uint64_t& read = data.at(i % 3);
        std::uint64_t& written = data.at(3 + i % 4);
        const auto function = [&read, &written] { written += read + 1; };
        failures += with_failures(
            [&] { graph.task(function, reads(data[0], read, read), writes(written)); });
        GraphTask late;
        failures += with_failures([&] { late = graph.declare({}); });
        failures += with_failures([&] { graph.define(late, function, writes(written)); });
    }
    go = true;
    graph.wait();
    EXPECT_GT(failures, 20U);
    EXPECT_EQ(data, (std::array<std::uint64_t, 7>{0, 0, 0, 150, 150, 150, 150}));
}

}  // namespace
}  // namespace strid
