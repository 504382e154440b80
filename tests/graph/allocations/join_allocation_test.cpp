// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in joins (allocations.hpp).
#include <chrono>

#include <strid/window/aggregates.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

// Of each key as many records in every pane: the lists that are used again are all long enough.
const auto one_of_five = on([](const std::uint64_t& n) { return n / 2 % 5; });
const auto add = [](const std::uint64_t& left, const std::uint64_t& right) { return left + right; };
const auto add_present = [](const std::uint64_t* left, const std::uint64_t* right) {
    return (left == nullptr ? 0 : *left) + (right == nullptr ? 0 : *right);
};

/// Odd and even numbers, as two streams.
template <class Join>
void expect_none_when_joined(const std::string& name, const Join& join) {
    const auto build = [&](auto stream) {
        auto branches =
            std::move(stream).event_time(time_of, LateStart{}).split(2, [](const std::uint64_t& n) {
                return static_cast<std::size_t>(n % 2);
            });
        join(branches.select(0), branches.select(1)).sink(Drop{});
    };
    expect_none_per_record(name, build);
}

TEST(Allocations, NoneForARecordInAnIntervalJoin) {
    constexpr JoinInterval interval = within(0ns, 20ns);
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
        expect_none_when_joined("by key", [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, interval, add_present,
                                        {.kind = kind});
        });
    }
    expect_none_when_joined("shared", [&](auto left, auto right) {
        return std::move(left).join(std::move(right), one_of_five, interval, add_present,
                                    share::farmed, {.parallelism = 3, .kind = JoinKind::left});
    });
}

TEST(Allocations, NoneForARecordInAnAsOfJoin) {
    expect_none_when_joined("inner", [&](auto left, auto right) {
        return std::move(left).as_of(std::move(right), one_of_five, add);
    });
    expect_none_when_joined("left, with a tolerance", [&](auto left, auto right) {
        return std::move(left).as_of(std::move(right), one_of_five, add_present,
                                     {.kind = JoinKind::left, .tolerance = 20ns});
    });
}

/// One side is ahead of the other by as much as the edges hold, and each pane between them has
/// lists.
TEST(Allocations, NoneForARecordInAWindowJoin) {
    const auto windows = window::TimeWindows::sliding(40ns, 20ns);
    for (const std::size_t replicas : {1, 2, 3}) {
        const auto of_kind = [&](JoinKind kind) {
            return [=](auto left, auto right) {
                return std::move(left).join(std::move(right), one_of_five, windows, add_present,
                                            {.parallelism = replicas, .kind = kind});
            };
        };
        const auto shared = [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, windows, add, share::farmed,
                                        {.parallelism = replicas});
        };
        const std::string name = ", replicas: " + std::to_string(replicas);
        expect_none_when_joined("inner" + name, of_kind(JoinKind::inner));
        expect_none_when_joined("full" + name, of_kind(JoinKind::full));
        expect_none_when_joined("shared" + name, shared);
    }
}

/// One in 100 lies far behind.
const auto time_of_some_late = [](const std::uint64_t& n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n % 100 == 99 && n > 5'000 ? n - 5'000 : n));
};

TEST(Allocations, NoneForARecordThatComesLateToAJoin) {
    expect_none_per_record("an interval join", [](auto stream) {
        auto branches =
            std::move(stream)
                .event_time(time_of_some_late, BoundedDisorder{50ns})
                .split(2, [](const std::uint64_t& n) { return static_cast<std::size_t>(n % 2); });
        auto [pairs, left, right] = branches.select(0).join(
            branches.select(1), on([](const std::uint64_t& n) { return n / 2 % 7; }),
            within(0ns, 20ns), add, late_apart);
        std::move(pairs).sink(Drop{});
        std::move(left).sink(Drop{});
        std::move(right).sink(Drop{});
    });
}

}  // namespace
}  // namespace strid
