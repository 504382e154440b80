// SPDX-License-Identifier: Apache-2.0
//
// Pipelines against the obvious sequential computation, in every mode.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

TEST(Pipeline, KeepsTheOrder) {
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(numbers(), square, collected.node()), options);
        ASSERT_EQ(collected.tasks(), squares());
    }
}

TEST(Pipeline, PassesTasksThatCannotBeCopied) {
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(
                numbers(), [](std::uint64_t n) { return std::make_unique<std::uint64_t>(n); },
                [](std::unique_ptr<std::uint64_t> n) {
                    *n *= *n;
                    return n;
                },
                [](std::unique_ptr<std::uint64_t> n) { return *n; }, collected.node()),
            options);
        ASSERT_EQ(collected.tasks(), squares());
    }
}

TEST(Pipeline, ANodeMakesNoneOrManyOfOne) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < task_count; n += 3) {
        for (std::uint64_t i = 0; i < n % 7; ++i) expected.push_back(n + i);
    }
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(
                numbers(),
                [](std::uint64_t n) { return n % 3 == 0 ? std::optional{n} : std::nullopt; },
                node<std::uint64_t>([](std::uint64_t n, auto& emit) {
                    for (std::uint64_t i = 0; i < n % 7; ++i) emit(n + i);
                }),
                collected.node()),
            options);
        ASSERT_EQ(collected.tasks(), expected);
    }
}

/// Start, step and end: the sum of each ten, and of what is left.
class Tens : public OperatorTypes<std::uint64_t, std::uint64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "tens", .emits = Emits::any_number, .hears = events<Opened, Ended>};

    void on(const Opened& opened) {
        replicas_ = opened.context.parallelism;
        opened.context.counter("opened").add(1);
    }
    void process(std::uint64_t& n, auto& emit) {
        sum_ += n;
        if (++count_ % 10 == 0) emit(std::exchange(sum_, 0));
    }
    void on(Ended, auto& emit) {
        if (count_ % 10 != 0) emit(sum_);
        emit(1'000'000 + replicas_);
    }
    auto state() { return std::tie(sum_, count_); }

  private:
    std::uint64_t sum_ = 0;
    std::uint64_t count_ = 0;
    std::size_t replicas_ = 0;
};

TEST(Pipeline, AnOperatorHearsOfStartAndEnd) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < 53; n += 10) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = n; i < std::min<std::uint64_t>(n + 10, 53); ++i) sum += i;
        expected.push_back(sum);
    }
    expected.push_back(1'000'001);
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        const auto report = run(pipeline(numbers(53), Tens{}, collected.node()), options);
        ASSERT_EQ(collected.tasks(), expected);
        ASSERT_EQ(report.at(1).counters.own.size(), 1U);
        EXPECT_EQ(report[1].counters.own[0], (std::pair<std::string, std::uint64_t>{"opened", 1}));
    }
}

TEST(Faults, AFunctionThatThrowsEndsThePatternAndNamesTheNode) {
    const auto breaks = [](std::uint64_t n) {
        if (n == 300) throw std::runtime_error("no 300");
        return n;
    };
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        try {
            run(pipeline(numbers(), named("broken", farm(breaks, FarmOptions{.workers = 2})),
                         collected.node()),
                options);
            FAIL() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_THAT(error.what(),
                        testing::AllOf(testing::HasSubstr("broken"), testing::HasSubstr("no 300")));
        }
        EXPECT_LE(collected.tasks().size(), task_count);
    }
}

/// Whether the task finds room at once or is kept first.
TEST(Faults, APolicyThatChoosesNoWorkerNamesTheNode) {
    const auto amiss = [](std::uint64_t n, const Loads& loads) {
        return n == 300 ? loads.workers() : static_cast<std::size_t>(n) % loads.workers();
    };
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        try {
            run(pipeline(named("shares", numbers()), farm(square, Chosen{amiss}, {.workers = 2}),
                         collected.node()),
                options);
            FAIL() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("shares"),
                                                     testing::HasSubstr("chose worker 2")));
        }
    }
}

TEST(Network, AnEmptyStreamEndsAndAHundredWorkersDoNotMatter) {
    Collected<std::uint64_t> collected;
    run(pipeline(numbers(0), farm(square, FarmOptions{.workers = 100}), collected.node()));
    EXPECT_TRUE(collected.tasks().empty());
}

TEST(Network, ReportsWhatItsNodesHaveDone) {
    const auto report = run(
        pipeline(named("numbers", numbers(100)), named("squares", square), [](std::uint64_t) {}));
    ASSERT_EQ(report.size(), 3U);
    EXPECT_EQ(report[0].name, "numbers 1");
    EXPECT_EQ(report[0].counters.tasks_out, 100U);
    EXPECT_EQ(report[1].name, "squares 2");
    EXPECT_EQ(report[1].counters.tasks_in, 100U);
    EXPECT_EQ(report[1].counters.tasks_out, 100U);
    EXPECT_EQ(report[2].counters.tasks_in, 100U);
}

}  // namespace
}  // namespace strid
