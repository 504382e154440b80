// SPDX-License-Identifier: Apache-2.0
//
// Calls that fail (operator/call.hpp): by an exception or by the time that they take. They are
// repeated, and then the policy of the operator decides, as for a map.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calls.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::HasSubstr;

TEST(Call, AFailureEndsTheRunAndNamesTheOperator) {
    for (const Way& way : all_ways()) {
        SCOPED_TRACE(way.name);
        try {
            called(200, Throws{}, {.retries = 1, .backoff = 1us}, way.options);
            FAIL() << "it does not throw";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "ask");
            EXPECT_THAT(error.what(), HasSubstr("bad "));
        }
    }
}

TEST(Call, FailuresAreSkippedOrSetAsideAfterTheLastAttempt) {
    for (const Way& way : all_ways()) {
        SCOPED_TRACE(way.name);
        RunReport report;
        const Throws throws;
        const CallOptions calls{.in_flight = 5, .retries = 2, .backoff = 1us};
        EXPECT_EQ(
            called(400, throws, calls, way.options, &report, {.on_exception = OnException::skip}),
            good_answers(400));
        EXPECT_EQ(of_calls(report).records_skipped, 8U);
        EXPECT_EQ(of_calls(report).records_out, 392U);
        EXPECT_EQ(of_calls(report).counters.at("retries"), 16U);
        EXPECT_EQ(throws.calls->at(49), 3U);
        EXPECT_EQ(throws.calls->at(48), 1U);

        std::vector<std::string> aside;
        const auto report_to = [&aside](std::uint64_t n, std::string_view error) {
            aside.push_back(std::to_string(n) + " " + std::string(error));
        };
        EXPECT_EQ(called_as_it_is(400, dead_letter<std::uint64_t>(Throws{}, report_to), calls,
                                  way.options, &report),
                  good_answers(400));
        EXPECT_EQ(of_calls(report).records_skipped, 8U);
        ASSERT_EQ(aside.size(), 8U);
        EXPECT_EQ(aside.front(), "49 bad 49");
    }
}

TEST(Call, ACallIsRepeatedUntilItSucceeds) {
    RunReport report;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(
        called(200, Throws{.times = 2}, {.retries = 2, .backoff = 8ms}, {.workers = 2}, &report),
        answers(200));
    EXPECT_GE(std::chrono::steady_clock::now() - began, 18ms);  // 8 and 16, less a quarter at most
    EXPECT_EQ(of_calls(report).counters.at("retries"), 8U);
    EXPECT_EQ(of_calls(report).counters.at("calls"), 208U);
}

TEST(Call, TheFunctionMaySkip) {
    RunReport report;
    const auto skips = [](const std::uint64_t& n) {
        if (n % 50 == 49) throw SkipRecord{};
        return answer_to(n);
    };
    EXPECT_EQ(called(400, skips, {.retries = 3}, {.workers = 2}, &report), good_answers(400));
    EXPECT_EQ(of_calls(report).records_skipped, 8U);
    EXPECT_EQ(of_calls(report).counters.at("calls"), 400U);
}

TEST(Call, WaitsDoubleUpToTheirLimit) {
    const CallOptions options{.backoff = 10ms, .backoff_max = 100ms};
    for (std::uint64_t record = 0; record != 100; ++record) {
        std::int64_t longest = 10'000'000;
        for (std::size_t failures = 1; failures != 70; ++failures) {
            const std::int64_t wait = operators::backoff_ns(options, failures, record);
            EXPECT_LE(wait, longest);
            EXPECT_GE(wait, longest - longest / 4);
            longest = std::min<std::int64_t>(2 * longest, 100'000'000);
        }
    }
    EXPECT_EQ(operators::backoff_ns({.backoff = 0ns}, 5, 1), 0);
}

TEST(Call, ACallThatTakesTooLongHasFailed) {
    RunReport report;
    const auto asked_to_stop = std::make_shared<std::atomic<int>>(0);
    const auto hangs = [asked_to_stop](const std::uint64_t& n, const std::stop_token& stop) {
        if (n % 50 == 49) {
            while (!stop.stop_requested()) std::this_thread::sleep_for(100us);
            ++*asked_to_stop;
        }
        return answer_to(n);
    };
    EXPECT_EQ(called(100, hangs, {.in_flight = 3, .timeout = 250ms, .retries = 1, .backoff = 1us},
                     {.workers = 2}, &report, {.on_exception = OnException::skip}),
              good_answers(100));
    EXPECT_EQ(of_calls(report).records_skipped, 2U);
    EXPECT_EQ(of_calls(report).counters.at("timeouts"), 4U);
    while (*asked_to_stop != 4) std::this_thread::sleep_for(1ms);
    try {
        called(100, hangs, {.timeout = 10ms}, {.workers = 2});
        FAIL() << "it does not throw";
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a call has not returned within 0.01 s"));
    }
}

TEST(Call, ALateResultIsDroppedAndItsThreadIsLeftBehind) {
    const auto returned = std::make_shared<std::atomic<int>>(0);
    const auto deaf = [returned](const std::uint64_t& n) {
        if (n < 3) {
            std::this_thread::sleep_for(1500ms);
            ++*returned;
        }
        return answer_to(n);
    };
    const auto began = std::chrono::steady_clock::now();
    const auto out = called(50, deaf, {.in_flight = 2, .timeout = 250ms}, {.workers = 2}, nullptr,
                            {.on_exception = OnException::skip});
    EXPECT_EQ(out, answers(50, 3));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1400ms);
    while (*returned != 3) std::this_thread::sleep_for(1ms);
}

TEST(Call, WithoutAThreadTheOperatorWaitsForOneThatReturns) {
    // Two calls at a time have four threads, and six calls hang.
    const auto hangs = [](const std::uint64_t& n) {
        if (n < 6) std::this_thread::sleep_for(400ms);
        return answer_to(n);
    };
    EXPECT_EQ(called(100, hangs, {.in_flight = 2, .timeout = 150ms}, {.workers = 2}, nullptr,
                     {.on_exception = OnException::skip}),
              answers(100, 6));
}

}  // namespace
}  // namespace strid
