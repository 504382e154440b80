// SPDX-License-Identifier: Apache-2.0
//
// Patterns that are asked for too much: 10,000 workers, one huge task among small ones, a fork.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

#if defined(__SANITIZE_THREAD__)
constexpr bool under_thread_sanitizer = true;
#else
constexpr bool under_thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool under_address_sanitizer = true;
#else
constexpr bool under_address_sanitizer = false;
#endif

TEST(Faults, TenThousandWorkersDoTheirTasks) {
    // Each look of the node before them at all workers takes the thread sanitizer long.
    constexpr std::size_t workers = under_thread_sanitizer ? 500 : 10'000;
    constexpr std::uint64_t count = 20'000;
    Collected<std::uint64_t> results;
    run(pipeline(numbers(count), farm(square, RoundRobin{}, {.workers = workers}), results.node()));
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) expected.push_back(n * n);
    EXPECT_EQ(results.sorted(), expected);
}

/// 64 MB among tasks of some bytes, by every kind of farm.
TEST(Faults, OneHugeTaskAmongSmallOnes) {
    constexpr std::size_t huge = std::size_t{64} << 20U;
    const auto make = [](std::uint64_t n) { return std::string(n == 250 ? huge : n % 10, 'x'); };
    const auto measure = [](std::string text) { return text.size(); };
    Collected<std::size_t> results;
    run(pipeline(numbers(), make,
                 limited(pipeline(farm(measure, FarmOptions{.workers = 2})), {.bytes = 1'000}),
                 results.node()));
    std::vector<std::size_t> expected;
    for (std::uint64_t n = 0; n < task_count; ++n) expected.push_back(n == 250 ? huge : n % 10);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(results.sorted(), expected);
}

/// The exception where a run has ended, from a node of one that has not.
TEST(Faults, InterruptedBeforeTheEndIsAFailure) {
    for (const Options& options : all_options()) {
        const auto interrupted = [](std::uint64_t n) {
            if (n == 25) throw Interrupted();  // of 5
        };
        EXPECT_THROW(run(pipeline(numbers(), farm(square), interrupted), options), Interrupted);
    }
}

/// A child process's view of an accelerator of its parent, as its exit code.
int in_a_child(std::unique_ptr<Accelerator<std::uint64_t, std::uint64_t>>& squares) {
    ::alarm(30);
    int refused = 0;
    const auto count_refusal = [&refused](const auto& action) {
        try {
            action();
        } catch (const Error&) {
            ++refused;
        }
    };
    count_refusal([&] { squares->offload(1); });
    count_refusal([&] { static_cast<void>(squares->result()); });
    count_refusal([&] { squares->wait(); });
    squares.reset();
    // One of its own works.
    auto own = accelerate<std::uint64_t>(square, {.execution = {.workers = 1}});
    own.offload(3);
    if (own.result() == 9U) ++refused;
    return refused;
}

TEST(Faults, ChildThatIsForkedOffIsRefusedAndTheParentGoesOn) {
    if (under_thread_sanitizer) GTEST_SKIP() << "it does not follow threads of a forked process";
    // A lock that another thread holds at the fork stays locked in the child.
    if (under_address_sanitizer) GTEST_SKIP() << "its allocator cannot be used in a forked process";
    auto squares = std::make_unique<Accelerator<std::uint64_t, std::uint64_t>>(
        accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 2})));
    for (std::uint64_t n = 0; n < 100; ++n) squares->offload(n);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(in_a_child(squares));
    for (std::uint64_t n = 100; n < task_count; ++n) squares->offload(n);
    squares->end();
    std::vector<std::uint64_t> results;
    while (const auto result = squares->result()) results.push_back(*result);
    std::sort(results.begin(), results.end());
    EXPECT_EQ(results, test::squares());
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 4);
}

}  // namespace
}  // namespace strid
