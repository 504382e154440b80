// SPDX-License-Identifier: Apache-2.0
//
// Generators and timetables by the clock.
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::drain;
using test::Emit;

struct Reading {
    std::uint64_t device;
    double value;
};

Reading make_reading(Random& random, std::uint64_t index) {
    return {index * 100 + random.below(100), random.uniform()};
}

TEST(Generate, EmitsOnSchedule) {
    const auto began_ns = now_ns();
    const auto emit = drain(generate(make_reading, {.count = 50, .rate_per_second = 1000}));
    const auto took_ns = now_ns() - began_ns;
    ASSERT_EQ(emit.ingress_ns.size(), 50U);
    EXPECT_GE(took_ns, 49'000'000);
    EXPECT_GE(emit.ingress_ns.front(), began_ns);
    for (std::size_t i = 1; i < emit.ingress_ns.size(); ++i) {
        EXPECT_EQ(emit.ingress_ns[i] - emit.ingress_ns[i - 1], 1'000'000);
    }
}

TEST(Generate, ALateStartKeepsTheTimetable) {
    auto source = generate(make_reading, {.rate_per_second = 1000});
    test::open(source);
    Emit<Reading> emit;
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::idle);
    EXPECT_EQ(emit.records.size(), 1U);
    EXPECT_EQ(source.wake_at_ns() - emit.ingress_ns[0], 1'000'000);
    std::this_thread::sleep_for(20ms);  // a stall downstream
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::more);
    EXPECT_EQ(emit.records.size(), 11U);
    EXPECT_EQ(emit.ingress_ns[10] - emit.ingress_ns[0], 10'000'000);
    EXPECT_EQ(source.fraction_done(), -1);
}

TEST(Generate, EndsWithItsDuration) {
    const auto began_ns = now_ns();
    auto source = generate(make_reading, {.duration = 30ms});
    test::open(source);
    struct {
        std::uint64_t count = 0;
        bool operator()(Reading&&) { return ++count > 0; }
        void ingress_at(std::int64_t) {}
    } emit;
    while (source.poll(emit, 100) != SourceStatus::finished) {
    }
    EXPECT_GE(now_ns() - began_ns, 30'000'000);
    EXPECT_GT(emit.count, 1000U);
    EXPECT_EQ(source.fraction_done(), 1);
}

TEST(Paced, GivesAnySourceATimetable) {
    std::vector<int> numbers(40);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto began_ns = now_ns();
    const auto emit = drain(paced(from_vector(numbers), 2000));
    EXPECT_EQ(emit.records, numbers);
    EXPECT_GE(now_ns() - began_ns, 19'000'000);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        EXPECT_EQ(emit.ingress_ns[i] - emit.ingress_ns[i - 1], 500'000);
    }
}

}  // namespace
}  // namespace strid
